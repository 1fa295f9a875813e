// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_PAIR_HPP

#include "../../plain/Stopwatch.hpp"
#include "../Pair.hpp"
#include "../BestVariant.hpp"
#include "Contents.hpp"
#include "CopyMemory.hpp"
#include "KokkosCopy.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {

enum class Side { ours, baseline };

/// Copies in one direction on one stream, of arrays that lie one behind the other and take turns,
/// so that none comes from a cache. Batches, whose time is that of calls and of latencies, are in
/// the same memory on both sides, since some may lie further from a GPU; the baseline takes it by the
/// address that its kernels need, as its calls do.
template <class Space>
class CopyStream {
 public:
  /// Uses `elements` elements of the memory's arrays from `offset` on.
  CopyStream(CopyShape const& shape, CopyDirection direction, std::size_t offset,
             std::size_t elements, CopyMemory<Space>& memory, Stream stream)
      : m_shape(shape),
        m_direction(direction),
        m_arrays(std::clamp<std::size_t>(std::min(elements, most_elements) / shape.host_span(), 1,
                                         is_batch(shape.layout) ? 32 : most_elements)),
        m_instance(make_instance(stream)),
        m_device(memory.device() + offset),
        m_ours(shape, direction, m_instance),
        m_baseline(make_copy_baseline(shape, direction, stream)),
        m_states{{memory.ours() + offset, memory.ours_for_kernels() + offset},
                 is_batch(shape.layout)
                     ? State{memory.ours_for_kernels() + offset, memory.ours_for_kernels() + offset}
                     : State{memory.plain() + offset, memory.plain() + offset}} {
    if (is_batch(shape.layout))
      for (std::size_t k = 0; k < m_arrays; ++k) {
        double* const device = m_device + k * shape.elements();
        m_ours.prepare(m_states[0].host + k * shape.host_span(), device);
        double* const host   = m_states[1].host + k * shape.host_span();
        bool const to_device = direction == CopyDirection::to_device;
        m_baseline->prepare(to_device ? device : host, to_device ? host : device);
      }
    prepare();
  }

  /// Enqueues one copy of the next array.
  void enqueue(Side side) {
    State& state            = of(side);
    std::size_t const array = (state.first + state.written++) % m_arrays;
    double* const host      = state.host + array * m_shape.host_span();
    double* const device    = m_device + array * m_shape.elements();
    bool const to_device    = m_direction == CopyDirection::to_device;
    if (side == Side::ours)
      m_ours.enqueue(host, device);
    else
      m_baseline->enqueue(to_device ? device : host, to_device ? host : device);
  }

  /// Checks the results if the next sample would overwrite them: the other side may write the same arrays,
  /// or the rotation may come back to them. Call it after each sample.
  void end_sample(Side side) {
    State& state             = of(side);
    std::size_t const sample = state.written - state.of_samples;
    state.of_samples         = state.written;
    if (writes_device() || is_batch(m_shape.layout) || state.written + sample > m_arrays)
      check(side);
  }

  /// Number of wrong elements of all copies so far.
  std::int64_t wrong(Side side) {
    check(side);
    return of(side).wrong;
  }

  /// Enqueues a copy of our side, and corrupts an element.
  void damage() {
    std::size_t const array = (of(Side::ours).first + of(Side::ours).written) % m_arrays;
    enqueue(Side::ours);
    m_instance.fence();
    on_end(!writes_device(), [&](auto const& instance) {
      poison(instance, destination(Side::ours) + std::int64_t(array) * placement_of(false).span, 1);
    });
    end_sample(Side::ours);
  }

  CopyBaseline& baseline() { return *m_baseline; }
  void fence() const { m_instance.fence(); }

 private:
  static constexpr std::size_t most_elements = (std::size_t(256) << 20) / sizeof(double);

  struct State {
    double *host, *host_for_kernels;
    std::size_t first = 0, written = 0;  // first array written since the last check, and how many
    std::size_t of_samples = 0;          // value of `written` at the end of the last sample
    std::int64_t wrong     = 0;
  };

  State& of(Side side) { return m_states[int(side)]; }

  bool writes_device() const { return m_direction == CopyDirection::to_device; }

  Placement placement_of(bool source) const {
    return placement(m_shape, source == writes_device(), source);
  }

  double* destination(Side side) { return writes_device() ? m_device : of(side).host_for_kernels; }

  // Run action(instance) with an execution space that can access that end of the copy.
  template <class Action>
  void on_end(bool host, Action action) const {
    if constexpr (is_pageable<Space>) {
      if (host) return action(Kokkos::DefaultHostExecutionSpace());
    }
    action(m_instance);
  }

  void prepare() {
    auto const elements = [this](bool source) {
      return std::int64_t(m_arrays) * placement_of(source).span;
    };
    for (State const& state : m_states)
      on_end(true, [&](auto const& instance) {
        if (writes_device())
          number(instance, state.host_for_kernels, elements(true));
        else
          poison(instance, state.host_for_kernels, elements(false));
      });
    if (writes_device())
      poison(m_instance, m_device, elements(false));
    else
      number(m_instance, m_device, elements(true));
  }

  void check(Side side) {
    State& state = of(side);
    if (state.written == 0) return;
    on_end(!writes_device(), [&](auto const& instance) {
      state.wrong += count_wrong_and_poison(
          instance, destination(side), m_shape, placement_of(false), placement_of(true),
          std::int64_t(state.first), std::int64_t(std::min(state.written, m_arrays)),
          std::int64_t(m_arrays));
    });
    state.first   = (state.first + state.written) % m_arrays;
    state.written = state.of_samples = 0;
  }

  CopyShape m_shape;
  CopyDirection m_direction;
  std::size_t m_arrays;
  Execution m_instance;
  double* m_device;
  KokkosCopy<Space> m_ours;
  std::unique_ptr<CopyBaseline> m_baseline;
  State m_states[2];
};

/// both: to the device and to the host at the same time, each with its own arrays; beside: timed in one direction
/// while twice as much goes in the other.
enum class CopyWay { to_device, to_host, both, to_device_beside, to_host_beside };

inline bool is_beside(CopyWay way) { return way >= CopyWay::to_device_beside; }

struct CopyCase {
  CopyWay way;
  CopyShape shape;
  std::size_t runs;  ///< in a sample
};

/// Times some copies in a row, in one direction or in both at once.
template <class Space>
class CopyPair final : public Pair {
 public:
  CopyPair(CopyCase const& description, std::shared_ptr<CopyMemory<Space>> memory)
      : m_case(description), m_memory(std::move(memory)) {
    bool const host_first = m_case.way == CopyWay::to_host || m_case.way == CopyWay::to_host_beside;
    CopyDirection const ways[] = {CopyDirection::to_device, CopyDirection::to_host};
    std::size_t const streams  = m_case.way > CopyWay::to_host ? 2 : 1;
    std::size_t const elements = m_memory->elements() / streams;
    for (std::size_t i = 0; i < streams; ++i)
      m_streams.push_back(std::make_unique<CopyStream<Space>>(
          m_case.shape, ways[host_first != (i == 1)], i * elements, elements, *m_memory,
          i == 0 ? m_stopwatch.stream() : m_stopwatch.other_stream()));
    run(Side::ours);
    for (auto& stream : m_streams)
      m_label = choose_best_variant(
          stream->baseline(), 3, [this] { run(Side::baseline); },
          [this] { return time_baseline(); });
  }

  double time_ours() override { return time(Side::ours); }
  double time_baseline() override { return time(Side::baseline); }

  std::string find_error() override {
    return describe_wrong(wrong(Side::ours), wrong(Side::baseline));
  }

  void damage() override { m_streams.back()->damage(); }

 private:
  // Copy outside of a gate: the first launch loads the kernels, which waits for the device.
  void run(Side side) {
    for (auto& stream : m_streams) {
      stream->enqueue(side);
      stream->fence();
      stream->end_sample(side);
    }
  }

  double time(Side side) {
    auto const work = [&] {
      for (std::size_t i = 0; i < m_case.runs; ++i)
        for (auto& stream : m_streams) {
          stream->enqueue(side);
          if (is_beside(m_case.way) && stream == m_streams.back()) stream->enqueue(side);
        }
    };
    double const seconds = measure(work);
    for (auto& stream : m_streams) stream->end_sample(side);
    return seconds / double(m_case.runs);
  }

  double measure(Stopwatch::Work const& work) {
    // The cost of a batch is the time of the host.
    if (is_pageable<Space> || is_batch(m_case.shape.layout))
      return m_stopwatch.time_with_host_clock(work);
    if (is_beside(m_case.way)) return m_stopwatch.time_queued_beside(work);
    if (m_case.way == CopyWay::both) return m_stopwatch.time_queued_on_both(work);
    return m_stopwatch.time_queued(work);
  }

  std::int64_t wrong(Side side) {
    std::int64_t result = 0;
    for (auto& stream : m_streams) result += stream->wrong(side);
    return result;
  }

  CopyCase m_case;
  std::shared_ptr<CopyMemory<Space>> m_memory;
  Stopwatch m_stopwatch;
  std::vector<std::unique_ptr<CopyStream<Space>>> m_streams;
};

}  // namespace KokkosHostSpaces::Perf

#endif
