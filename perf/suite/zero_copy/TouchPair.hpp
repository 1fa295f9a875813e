// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_TOUCH_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_TOUCH_PAIR_HPP

#include "../../plain/Stopwatch.hpp"
#include "../BestVariant.hpp"
#include "../Pair.hpp"
#include "TouchMemory.hpp"

#include <algorithm>
#include <cmath>

namespace KokkosHostSpaces::Perf {

/// read, write: a kernel works in place. staged: the whole array is copied to the device and read there.
enum class TouchWay { read, write, staged };

struct TouchCase {
  TouchWay way;
  double fraction;        ///< touched part of the array
  int passes;             ///< kernels in a row that touch it
  std::size_t alignment;  ///< of the array, in bytes

  std::uint64_t touched(std::size_t elements) const {
    double const runs = fraction * double(elements / run_elements);
    return std::max<std::uint64_t>(1, std::uint64_t(std::llround(runs)));
  }
};

/// Times kernels that touch a part of an array. A sample of a small part repeats it on other parts, since
/// events resolve 0.5 µs.
template <class Space>
class TouchPair final : public Pair {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using OnDevice  = Execution::memory_space;
  template <class S>
  using Vector = Kokkos::View<double*, S, Unmanaged>;
  using Sums   = Kokkos::View<double*, OnDevice>;

 public:
  TouchPair(TouchCase const& description, std::shared_ptr<TouchMemory<Space>> memory)
      : m_case(description),
        m_memory(std::move(memory)),
        m_instance(make_instance(m_stopwatch.stream())),
        m_baseline(make_touch_baseline(m_case.alignment % 16 == 0, m_stopwatch.stream())),
        m_all(m_memory->elements() / run_elements),
        m_touched(m_case.touched(m_memory->elements())),
        m_parts(m_case.way != TouchWay::staged && m_all / m_touched >= parts ? parts : 1),
        m_ours{m_memory->ours(m_case.alignment), m_memory->ours_for_kernels(m_case.alignment),
               Sums("sums of ours", m_parts * m_touched), 0},
        m_plain{m_memory->plain(m_case.alignment), m_memory->plain(m_case.alignment),
                Sums("sums of baseline", m_parts * m_touched), 1} {
    for (Side const* side : {&m_ours, &m_plain})
      fill(m_instance, side->for_kernels, m_memory->elements(), side->extra);
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
  std::string baseline_label() const override { return m_label; }

  std::string find_error() override { return describe_wrong(wrong(m_ours), wrong(m_plain)); }

  void damage() override {
    spoil(m_instance, m_case.way == TouchWay::write
                          ? m_ours.for_kernels + first_element(runs_of_part(0), m_touched - 1)
                          : m_ours.sums.data() + m_touched - 1);
  }

 private:
  static constexpr std::uint64_t parts = 16;

  struct Side {
    double *array, *for_kernels;
    Sums sums;
    int extra;
    std::int64_t samples = 0;
  };

  TouchedRuns runs_of_part(std::uint64_t part) const {
    return {m_all, m_touched, part * (m_all / m_touched / m_parts)};
  }

  void enqueue_ours() {
    ++m_ours.samples;
    if constexpr (TouchMemory<Space>::staged) {
      Vector<OnDevice> const staging(m_memory->device(), m_memory->elements());
      Kokkos::deep_copy(m_instance, staging, Vector<Space>(m_ours.array, m_memory->elements()));
      each_kernel([&](std::uint64_t part, TouchedRuns const& runs) { add(staging, part, runs); });
    } else {
      Vector<Space> const array(m_ours.array, m_memory->elements());
      each_kernel([&](std::uint64_t part, TouchedRuns const& runs) {
        if (m_case.way == TouchWay::write)
          Kokkos::parallel_for("write", policy_of(m_instance, runs),
                               WriteRuns<Vector<Space>>{array, value(m_ours), runs});
        else
          add(array, part, runs);
      });
    }
#ifndef KOKKOS_ENABLE_CUDA
    m_instance.fence();  // the baseline's loop returns when done
#endif
  }

  template <class Array>
  void add(Array const& array, std::uint64_t part, TouchedRuns const& runs) const {
    Vector<OnDevice> const sums(m_ours.sums.data() + part * m_touched, m_touched);
    Kokkos::parallel_for("read", policy_of(m_instance, runs),
                         AddRuns<Array, Vector<OnDevice>>{array, sums, runs});
  }

  void enqueue_baseline() {
    ++m_plain.samples;
    double* array = m_plain.array;
    if (m_case.way == TouchWay::staged) {
      array = m_memory->device();
      m_baseline->copy(array, m_plain.array, m_memory->elements() * sizeof(double));
    }
    each_kernel([&](std::uint64_t part, TouchedRuns const& runs) {
      if (m_case.way == TouchWay::write)
        m_baseline->write(array, value(m_plain), runs);
      else
        m_baseline->read(array, m_plain.sums.data() + part * m_touched, runs);
    });
  }

  template <class Enqueue>
  void each_kernel(Enqueue enqueue) const {
    for (std::uint64_t part = 0; part < m_parts; ++part)
      for (int pass = 0; pass < m_case.passes; ++pass) enqueue(part, runs_of_part(part));
  }

  // Write other values in each sample.
  double value(Side const& side) const { return double(side.samples); }

  std::int64_t wrong(Side const& side) const {
    std::int64_t result = 0;
    for (std::uint64_t part = 0; part < m_parts; ++part)
      result +=
          m_case.way == TouchWay::write
              ? count_wrong_elements(m_instance, side.for_kernels, runs_of_part(part), value(side))
              : count_wrong_sums(m_instance, side.sums.data() + part * m_touched,
                                 runs_of_part(part), side.extra, side.samples * m_case.passes);
    return result;
  }

  TouchCase m_case;
  std::shared_ptr<TouchMemory<Space>> m_memory;
  Stopwatch m_stopwatch;
  Execution m_instance;
  std::unique_ptr<TouchBaseline> m_baseline;
  std::uint64_t m_all, m_touched, m_parts;
  Side m_ours, m_plain;
  std::string m_label;
};

}  // namespace KokkosHostSpaces::Perf

#endif
