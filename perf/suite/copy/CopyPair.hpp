// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_PAIR_HPP

#include "../../plain/Stopwatch.hpp"
#include "../Pair.hpp"
#include "CopyLane.hpp"

namespace KokkosHostSpaces::Perf {

/// both: to the device and to the host at the same time, from and to memory of its own each.
enum class CopyWay { to_device, to_host, on_device, both };

struct CopyCase {
  CopyWay way;
  CopyShape shape;
  std::size_t runs;  ///< in a sample
};

/// A sample is some copies, one after the other (of each direction).
template <class Space>
class CopyPair final : public Pair {
 public:
  CopyPair(CopyCase const& description, std::shared_ptr<CopyMemory<Space>> memory)
      : m_case(description), m_memory(std::move(memory)) {
    std::size_t const all = m_memory->elements();
    switch (m_case.way) {
      case CopyWay::to_host: add_lane(CopyDirection::to_host, 0, all); break;
      case CopyWay::both:
        add_lane(CopyDirection::to_device, 0, all / 2);
        add_lane(CopyDirection::to_host, all / 2, all / 2);
        break;
      default: add_lane(CopyDirection::to_device, 0, all);
    }
    run(Doer::ours);
    for (auto& lane : m_lanes)
      m_label = choose_best_variant(
          lane->baseline(), 3, [this] { run(Doer::baseline); }, [this] { return time_baseline(); });
  }

  double time_ours() override { return time(Doer::ours); }
  double time_baseline() override { return time(Doer::baseline); }
  std::string baseline_label() const override { return m_label; }

  std::string find_error() override {
    return describe_wrong(wrong(Doer::ours), wrong(Doer::baseline));
  }

  void damage() override { m_lanes.back()->damage(); }

 private:
  void add_lane(CopyDirection direction, std::size_t offset, std::size_t elements) {
    m_lanes.push_back(std::make_unique<CopyLane<Space>>(
        m_case.shape, direction, offset, elements, *m_memory,
        m_lanes.empty() ? m_stopwatch.stream() : m_stopwatch.other_stream()));
  }

  // The first launch loads kernels, which waits for the device: not behind a blocking kernel.
  void run(Doer doer) {
    for (auto& lane : m_lanes) {
      lane->enqueue(doer);
      lane->fence();
      lane->end_sample(doer);
    }
  }

  double time(Doer doer) {
    auto const work = [&] {
      for (std::size_t i = 0; i < m_case.runs; ++i)
        for (auto& lane : m_lanes) lane->enqueue(doer);
    };
    double const seconds = measure(work);
    for (auto& lane : m_lanes) lane->end_sample(doer);
    return seconds / double(m_case.runs);
  }

  double measure(Stopwatch::Work const& work) {
    // What batches cost is the time of the host.
    if (is_pageable<Space> || is_batch(m_case.shape.layout))
      return m_stopwatch.time_with_host_clock(work);
    if (m_case.way == CopyWay::on_device) return m_stopwatch.time_queued_cold(work);
    if (m_case.way == CopyWay::both) return m_stopwatch.time_queued_on_both(work);
    return m_stopwatch.time_queued(work);
  }

  std::int64_t wrong(Doer doer) {
    std::int64_t result = 0;
    for (auto& lane : m_lanes) result += lane->wrong(doer);
    return result;
  }

  CopyCase m_case;
  std::shared_ptr<CopyMemory<Space>> m_memory;
  Stopwatch m_stopwatch;
  std::vector<std::unique_ptr<CopyLane<Space>>> m_lanes;
  std::string m_label;
};

}  // namespace KokkosHostSpaces::Perf

#endif
