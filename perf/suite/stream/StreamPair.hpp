// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_STREAM_PAIR_HPP

#include "../BestVariant.hpp"
#include "../Pair.hpp"
#include "StreamMemory.hpp"

#include <chrono>
#include <utility>

namespace KokkosHostSpaces::Perf {

/// Describes a benchmark of this group.
struct StreamCase {
  StreamOperation operation;
  StreamShape shape;
  int steps = 1;  ///< steps of a stencil
  int every = 1;  ///< as StreamLoop::every

  std::function<double(StreamLoop const&)> run = {};  ///< runs our side until it is done
  std::string baseline                         = {};  ///< name of the baseline
  std::function<std::unique_ptr<StreamBaseline>(StreamLoop const&)> make_baseline = {};
};

/// Times a loop over host memory by the host's clock, from the call until its result is there: a gate could
/// not hold the loop's own streams.
class StreamPair final : public Pair {
 public:
  StreamPair(StreamCase description, std::shared_ptr<StreamMemory> memory)
      : m_case(std::move(description)),
        m_memory(std::move(memory)),
        m_runs(runs_of_sample(m_case.shape)),
        m_loop{m_case.operation, m_case.shape, m_memory->arrays(), m_case.every} {
    fill_stream(m_loop);
    reset_stream(m_loop);
    if (m_case.operation == StreamOperation::dot) m_sum = expected_dot(m_loop);
    m_baseline = m_case.make_baseline(m_loop);
    m_case.run(m_loop);
    m_label = m_case.baseline + ": " +
              choose_best_variant(
                  *m_baseline, m_runs > 1 ? 7 : 2, [this] { time_baseline(); },
                  [this] { return time_baseline(); });
  }

  double time_ours() override {
    return seconds_of([this] { m_case.run(m_loop); });
  }
  double time_baseline() override {
    m_baseline->prepare();
    return seconds_of([this] { m_baseline->run(); });
  }

  /// Verifies one more run of each side, on poisoned results.
  std::string find_error() override {
    begin_again();
    m_result = m_case.run(m_loop);
    if (m_damaged) spoil();
    std::int64_t const ours = wrong();
    auto const by_us        = copy_of_points();
    begin_again();
    m_baseline->prepare();
    m_result = m_baseline->run();
    m_baseline->collect();
    auto const missing    = m_baseline->count_missing();
    std::int64_t baseline = missing ? *missing : wrong();
    if (by_us.is_allocated())
      baseline += sum_of<std::int64_t>(
          m_loop, [by_us, a = m_loop.arrays.a](std::int64_t i) { return by_us(i) != a[i]; });
    return describe_wrong(ours, baseline);
  }

 private:
  template <class Run>
  double seconds_of(Run run) {
    auto const begin = std::chrono::steady_clock::now();
    for (int i = 0; i < m_runs; ++i) run();
    auto const end = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(end - begin).count() / m_runs;
  }

  // Repeat a short loop, since other work of the machine disturbs it.
  static int runs_of_sample(StreamShape const& shape) {
    constexpr std::int64_t enough = 1 << 19;
    return int(std::clamp<std::int64_t>(enough / shape.elements(), 1, 64));
  }

  // Passes of a stencil alternate between a and c.
  void begin_again() const {
    if (m_case.steps > 1) fill_stream(m_loop);
    reset_stream(m_loop);
  }

  void spoil() {
    m_result += 1;
    m_loop.arrays.a[m_case.shape.elements() - 1] += 0.5;
  }

  std::int64_t wrong() const {
    if (m_case.operation == StreamOperation::dot) return m_result != m_sum;
    return count_wrong_elements(m_loop, m_case.steps);
  }

  // Compare all points of a stencil with the other side: those near faces have no expected value.
  Kokkos::View<double*, Kokkos::HostSpace> copy_of_points() const {
    if (m_case.operation != StreamOperation::stencil) return {};
    Kokkos::View<double*, Kokkos::HostSpace> copy(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "a by us"),
        std::size_t(m_case.shape.elements()));
    for_each_element(m_loop, [copy, a = m_loop.arrays.a](std::int64_t i) { copy(i) = a[i]; });
    return copy;
  }

  StreamCase m_case;
  std::shared_ptr<StreamMemory> m_memory;
  int m_runs;
  StreamLoop m_loop;
  std::unique_ptr<StreamBaseline> m_baseline;
  double m_sum = 0, m_result = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
