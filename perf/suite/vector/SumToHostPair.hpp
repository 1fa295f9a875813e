// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_SUM_TO_HOST_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_SUM_TO_HOST_PAIR_HPP

#include "../../plain/PlainBuffer.hpp"
#include "../../plain/Stopwatch.hpp"
#include "../BestVariant.hpp"
#include "../Instance.hpp"
#include "../Pair.hpp"
#include "Contents.hpp"

#include <KokkosHostSpaces/ParallelReduce.hpp>

#include <chrono>

namespace KokkosHostSpaces::Perf {

struct SquareTerm {
  double const* a;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const { sum += a[i] * a[i]; }
};

/// Times a sum of squares on the device from the call until the host can read it: by khs::parallel_reduce, beside
/// that of Kokkos, or beside the best plain kernel that adds into page-locked memory.
class SumToHostPair final : public Pair {
  using Clock = std::chrono::steady_clock;

 public:
  SumToHostPair(std::size_t elements, bool stock)
      : m_n(std::int64_t(elements)),
        m_stock(stock),
        m_instance(make_instance(m_stopwatch.stream())),
        m_arrays("arrays", 2 * elements),
        m_sum(make_plain_buffer(PlainKind::pinned, sizeof(double))) {
    fill(arguments(), 1, m_n, m_instance);
    m_plain = make_vector_baseline<double>(VectorOperation::norm, {arguments()}, elements,
                                           runs_on_device ? Rivals::repeatable : Rivals::all,
                                           m_stopwatch.stream());
    time_ours();
    m_label =
        m_stock ? "Kokkos::parallel_reduce"
                : choose_best_variant(
                      *m_plain, 5, [this] { time_baseline(); }, [this] { return time_baseline(); });
  }

  double time_ours() override {
    return time([this](double& sum) {
      parallel_reduce("sum", m_instance, m_n, SquareTerm{m_arrays.data()}, sum);
    });
  }
  double time_baseline() override {
    if (m_stock)
      return time([this](double& sum) {
        Kokkos::parallel_reduce("sum", Elements<Execution>(m_instance, 0, m_n),
                                SquareTerm{m_arrays.data()}, sum);
      });
    double& sum          = *static_cast<double*>(m_sum.get());
    sum                  = -1;
    double const seconds = m_stopwatch.time_with_host_clock([this] { m_plain->enqueue(); });
    m_wrong_baseline += wrong(sum);
    return seconds;
  }

  std::string find_error() override { return describe_wrong(m_wrong, m_wrong_baseline); }
  void damage() override { m_wrong += wrong(-1); }

 private:
  VectorArguments<double> arguments() {
    return {m_arrays.data(), m_arrays.data() + m_n, nullptr, static_cast<double*>(m_sum.get())};
  }

  bool wrong(double sum) const {
    return !Contents<double>::is_right_sum(VectorOperation::norm, m_n, sum);
  }

  template <class Sum>
  double time(Sum add) {
    double sum = -1;
    m_instance.fence();
    auto const begin = Clock::now();
    add(sum);
    double const seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    m_wrong += wrong(sum);
    return seconds;
  }

  std::int64_t m_n;
  bool m_stock;
  Stopwatch m_stopwatch;
  Execution m_instance;
  Kokkos::View<double*, Execution::memory_space> m_arrays;
  PlainBuffer m_sum;
  std::unique_ptr<VectorBaseline> m_plain;
  std::int64_t m_wrong = 0, m_wrong_baseline = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
