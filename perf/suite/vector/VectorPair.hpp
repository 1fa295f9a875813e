// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_PAIR_HPP

#include "../../plain/Stopwatch.hpp"
#include "../BestVariant.hpp"
#include "../Pair.hpp"
#include "Contents.hpp"
#include "KokkosVector.hpp"
#include "VectorMemory.hpp"

#include <bit>

namespace KokkosHostSpaces::Perf {

struct VectorCase {
  VectorOperation op;
  std::size_t elements;
  Launch launch;
  Rivals rivals;
  std::size_t most_runs;   ///< runs of a sample
  std::size_t most_bytes;  ///< moved by a sample of several runs
};

/// Times a sequence of runs on adjacent arrays, none of which is in the cache.
template <class Space, class T>
class VectorPair final : public Pair {
 public:
  VectorPair(VectorCase const& description, std::shared_ptr<VectorMemory<Space>> memory)
      : m_case(description),
        m_memory(std::move(memory)),
        m_instance(make_instance(m_stopwatch.stream())),
        m_runs(runs_of_sample()),
        m_arrays(std::min(m_runs, std::bit_floor(m_memory->bytes / (m_case.elements * sizeof(T))))),
        m_sums("sums", 2 * m_arrays),
        m_ours_at(arguments(m_memory->ours[0], m_memory->ours[1], m_memory->ours[2], 0)),
        m_baseline_at(
            arguments(m_memory->plain[0], m_memory->plain[1], m_memory->plain[2], m_arrays)),
        m_ours(KokkosVector<Space, T>::make(m_case.op, all_runs(m_ours_at), m_case.elements,
                                            m_case.launch, m_instance)),
        m_baseline(make_vector_baseline<T>(m_case.op, all_runs(m_baseline_at), m_case.elements,
                                           m_case.rivals, m_stopwatch.stream())) {
    for (VectorArguments<T> const& at : {m_ours_at, m_baseline_at})
      fill(at, std::int64_t(m_arrays), std::int64_t(m_case.elements), m_instance);
    run(m_ours);
    // All variants are equally fast over the link, and large samples scatter little.
    bool const large = sample_bytes() > 1e9;
    int const step   = large && !on_device ? 3 : 1;
    m_label          = choose_best_variant(
                 *m_baseline, large ? 1 : 3, [this] { run(m_enqueue_baseline); },
                 [this] { return time_baseline(); }, step);
  }

  double time_ours() override { return time(m_ours); }
  double time_baseline() override { return time(m_enqueue_baseline); }

  /// Verifies one more sample of each side, on poisoned arrays.
  std::string find_error() override {
    reset(m_ours_at);
    time_ours();
    if (m_damaged) spoil(m_case.op, m_ours_at, std::int64_t(m_case.elements), m_instance);
    std::int64_t const ours = wrong(m_ours_at);
    reset(m_baseline_at);
    time_baseline();
    return describe_wrong(ours, wrong(m_baseline_at));
  }

 private:
  static constexpr bool on_device = std::is_same_v<Space, Execution::memory_space>;

  std::size_t run_bytes() const {
    return std::size_t(arrays_moved(m_case.op)) * m_case.elements * sizeof(T);
  }
  std::size_t runs_of_sample() const {
    return std::bit_floor(
        std::clamp<std::size_t>(m_case.most_bytes / run_bytes(), 1, m_case.most_runs));
  }
  double sample_bytes() const { return double(run_bytes()) * double(m_runs); }

  VectorArguments<T> arguments(void* a, void* b, void* c, std::size_t sum) const {
    return {static_cast<T*>(a), static_cast<T*>(b), static_cast<T*>(c), m_sums.data() + sum};
  }

  std::vector<VectorArguments<T>> all_runs(VectorArguments<T> const& first) const {
    std::vector<VectorArguments<T>> runs;
    for (std::size_t i = 0; i < m_runs; ++i) {
      std::size_t const array = i % m_arrays, offset = array * m_case.elements;
      runs.push_back({first.a + offset, first.b + offset, first.c + offset, first.sum + array});
    }
    return runs;
  }

  void reset(VectorArguments<T> const& first) {
    reset_results(m_case.op, first, std::int64_t(m_arrays), std::int64_t(m_case.elements),
                  m_instance);
  }

  // Run outside of a gate: the first launch loads the kernel, which waits for the device.
  void run(Stopwatch::Work const& enqueue) { m_stopwatch.time_with_host_clock(enqueue); }

  double time(Stopwatch::Work const& enqueue) {
    return m_stopwatch.time_queued_cold(enqueue) / double(m_runs);
  }

  std::int64_t wrong(VectorArguments<T> const& first) const {
    return count_wrong(m_case.op, first, std::int64_t(m_arrays), std::int64_t(m_case.elements),
                       std::int64_t(m_runs / m_arrays), m_instance);
  }

  VectorCase m_case;
  std::shared_ptr<VectorMemory<Space>> m_memory;
  Stopwatch m_stopwatch;
  Execution m_instance;
  std::size_t m_runs, m_arrays;
  Kokkos::View<T*, Execution::memory_space> m_sums;
  VectorArguments<T> m_ours_at, m_baseline_at;
  Stopwatch::Work m_ours;
  std::unique_ptr<VectorBaseline> m_baseline;
  Stopwatch::Work m_enqueue_baseline = [this] { m_baseline->enqueue(); };
};

}  // namespace KokkosHostSpaces::Perf

#endif
