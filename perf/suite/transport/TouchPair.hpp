// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_TRANSPORT_TOUCH_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_TRANSPORT_TOUCH_PAIR_HPP

#include "../../plain/Stopwatch.hpp"
#include "../BestVariant.hpp"
#include "../Pair.hpp"
#include "../copy/CopyBaseline.hpp"
#include "../copy/CopyMemory.hpp"
#include "TouchBaseline.hpp"

#include <algorithm>
#include <cmath>

namespace KokkosHostSpaces::Perf {

using TeamOfRuns  = Kokkos::TeamPolicy<Execution>;
using AllElements = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::uint64_t>>;

inline constexpr int runs_of_team = runs_on_device ? 8 : 1;

KOKKOS_INLINE_FUNCTION std::uint64_t first_element(TouchedRuns const& runs, std::uint64_t run) {
  return run_elements * (run * runs.all / runs.touched + runs.shift);
}

/// Adds the sum of run j to sums(j), a run by each thread of a team, with its vector lanes.
template <class Array, class Sums>
struct AddRuns {
  Array array;
  Sums sums;
  TouchedRuns runs;

  KOKKOS_FUNCTION void operator()(TeamOfRuns::member_type const& team) const {
    std::uint64_t const run = std::uint64_t(team.league_rank()) * runs_of_team + team.team_rank();
    if (run >= runs.touched) return;
    std::uint64_t const first = first_element(runs, run);
    double sum                = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, run_elements),
        [&](int i, double& part) { part += array(first + i); }, sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { sums(run) += sum; });
  }
};

/// Contents are small whole numbers, so that sums are exact. Arrays of the two sides differ in `extra`, so that
/// neither can be mistaken for the other on the device.
KOKKOS_INLINE_FUNCTION double content(std::uint64_t element, int extra) {
  return double(element % 251 + extra);
}

inline void fill(Execution const& instance, double* array, std::uint64_t elements, int extra) {
  Kokkos::parallel_for(
      "fill", AllElements(instance, 0, elements),
      KOKKOS_LAMBDA(std::uint64_t e) { array[e] = content(e, extra); });
  instance.fence();
}

/// Counts sums that differ from those of their runs, added `passes` times.
inline std::int64_t count_wrong_sums(Execution const& instance, double const* sums,
                                     TouchedRuns const& runs, int extra, std::int64_t passes) {
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "count_wrong_sums", AllElements(instance, 0, runs.touched),
      KOKKOS_LAMBDA(std::uint64_t run, std::int64_t & wrong) {
        double expected           = 0;
        std::uint64_t const first = first_element(runs, run);
        for (int i = 0; i < run_elements; ++i) expected += content(first + i, extra);
        wrong += !(sums[run] == double(passes) * expected);
      },
      result);
  return result;
}

/// A type of its own, since LatestMemory tells arrays apart by their type.
template <class Space>
struct TouchMemory : CopyMemory<Space> {
  using CopyMemory<Space>::CopyMemory;
};

/// Times kernels that read a fraction of an array, several `passes` in a row: in place, or from PinnedSpace, of
/// which all is copied to the device first. A sample of a small fraction repeats it on other parts, since events
/// resolve 0.5 µs.
template <class Space>
class TouchPair final : public Pair {
  static constexpr bool staged = std::is_same_v<Space, PinnedSpace>;
  template <class S>
  using Vector = Kokkos::View<double*, S, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Device = Execution::memory_space;

 public:
  TouchPair(double fraction, int passes, std::shared_ptr<TouchMemory<Space>> memory)
      : m_passes(passes),
        m_memory(std::move(memory)),
        m_instance(make_instance(m_stopwatch.stream())),
        m_baseline(make_touch_baseline(m_stopwatch.stream())),
        m_copy(make_copy_baseline({CopyLayout::contiguous, 1, m_memory->elements()},
                                  CopyDirection::to_device, m_stopwatch.stream())),
        m_all(m_memory->elements() / run_elements),
        m_touched(
            std::max<std::uint64_t>(1, std::uint64_t(std::llround(fraction * double(m_all))))),
        m_parts(!staged && m_all / m_touched >= parts ? parts : 1),
        m_ours{Sums("sums of ours", m_parts * m_touched), 0},
        m_plain{Sums("sums of baseline", m_parts * m_touched), 1} {
    fill(m_instance, m_memory->ours_for_kernels(), m_memory->elements(), m_ours.extra);
    fill(m_instance, m_memory->plain(), m_memory->elements(), m_plain.extra);
    m_stopwatch.time_with_host_clock([this] { enqueue_ours(); });
    m_label = choose_best_variant(
        *m_baseline, 3,
        [this] { m_stopwatch.time_with_host_clock([this] { enqueue_baseline(); }); },
        [this] { return time_baseline(); });
  }

  double time_ours() override {
    return m_stopwatch.time_queued_cold([this] { enqueue_ours(); }) / double(m_parts);
  }
  double time_baseline() override {
    return m_stopwatch.time_queued_cold([this] { enqueue_baseline(); }) / double(m_parts);
  }

  std::string find_error() override { return describe_wrong(wrong(m_ours), wrong(m_plain)); }

  void damage() override {
    Kokkos::deep_copy(m_instance, Kokkos::subview(m_ours.sums, m_touched - 1), -1.);
    m_instance.fence();
  }

 private:
  static constexpr std::uint64_t parts = 16;
  using Sums                           = Kokkos::View<double*, Device>;

  struct Side {
    Sums sums;
    int extra;
    std::int64_t samples = 0;
  };

  TouchedRuns runs_of_part(std::uint64_t part) const {
    return {m_all, m_touched, part * (m_all / m_touched / m_parts)};
  }

  void enqueue_ours() {
    Vector<Space> const array(m_memory->ours(), m_memory->elements());
    if constexpr (staged) {
      Vector<Device> const copy(m_memory->device(), m_memory->elements());
      Kokkos::deep_copy(m_instance, copy, array);
      read(copy);
    } else {
      read(array);
    }
#ifndef KOKKOS_ENABLE_CUDA
    m_instance.fence();  // the baseline's loop returns when done
#endif
  }

  template <class Array>
  void read(Array const& array) {
    each_kernel(m_ours, [&](double* sums, TouchedRuns const& runs) {
      int const teams = int((runs.touched + runs_of_team - 1) / runs_of_team);
      Kokkos::parallel_for(
          "read", TeamOfRuns(m_instance, teams, runs_of_team, runs_on_device ? 32 : 1),
          AddRuns<Array, Vector<Device>>{array, Vector<Device>(sums, m_touched), runs});
    });
  }

  void enqueue_baseline() {
    double* const array = staged ? m_memory->device() : m_memory->plain();
    if (staged) m_copy->enqueue(array, m_memory->plain());
    each_kernel(m_plain, [&](double* sums, TouchedRuns const& runs) {
      m_baseline->read(array, sums, runs);
    });
  }

  template <class Enqueue>
  void each_kernel(Side& side, Enqueue enqueue) const {
    ++side.samples;
    for (std::uint64_t part = 0; part < m_parts; ++part)
      for (int pass = 0; pass < m_passes; ++pass)
        enqueue(side.sums.data() + part * m_touched, runs_of_part(part));
  }

  std::int64_t wrong(Side const& side) const {
    std::int64_t result = 0;
    for (std::uint64_t part = 0; part < m_parts; ++part)
      result += count_wrong_sums(m_instance, side.sums.data() + part * m_touched,
                                 runs_of_part(part), side.extra, side.samples * m_passes);
    return result;
  }

  int m_passes;
  std::shared_ptr<TouchMemory<Space>> m_memory;
  Stopwatch m_stopwatch;
  Execution m_instance;
  std::unique_ptr<TouchBaseline> m_baseline;
  std::unique_ptr<CopyBaseline> m_copy;
  std::uint64_t m_all, m_touched, m_parts;
  Side m_ours, m_plain;
};

}  // namespace KokkosHostSpaces::Perf

#endif
