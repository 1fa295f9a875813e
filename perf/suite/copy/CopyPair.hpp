// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_PAIR_HPP

#include "../../plain/Stopwatch.hpp"
#include "../Pair.hpp"
#include "CopyStream.hpp"

namespace KokkosHostSpaces::Perf {

/// both: to the device and to the host at the same time, each with its own arrays.
enum class CopyWay { to_device, to_host, on_device, both };

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
    std::size_t const all = m_memory->elements();
    switch (m_case.way) {
      case CopyWay::to_host: add_stream(CopyDirection::to_host, 0, all); break;
      case CopyWay::both:
        add_stream(CopyDirection::to_device, 0, all / 2);
        add_stream(CopyDirection::to_host, all / 2, all / 2);
        break;
      default: add_stream(CopyDirection::to_device, 0, all);
    }
    run(Side::ours);
    for (auto& stream : m_streams)
      m_label = choose_best_variant(
          stream->baseline(), 3, [this] { run(Side::baseline); },
          [this] { return time_baseline(); });
  }

  double time_ours() override { return time(Side::ours); }
  double time_baseline() override { return time(Side::baseline); }
  std::string baseline_label() const override { return m_label; }

  std::string find_error() override {
    return describe_wrong(wrong(Side::ours), wrong(Side::baseline));
  }

  void damage() override { m_streams.back()->damage(); }

 private:
  void add_stream(CopyDirection direction, std::size_t offset, std::size_t elements) {
    m_streams.push_back(std::make_unique<CopyStream<Space>>(
        m_case.shape, direction, offset, elements, *m_memory,
        m_streams.empty() ? m_stopwatch.stream() : m_stopwatch.other_stream()));
  }

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
        for (auto& stream : m_streams) stream->enqueue(side);
    };
    double const seconds = measure(work);
    for (auto& stream : m_streams) stream->end_sample(side);
    return seconds / double(m_case.runs);
  }

  double measure(Stopwatch::Work const& work) {
    // The cost of a batch is the time of the host.
    if (is_pageable<Space> || is_batch(m_case.shape.layout))
      return m_stopwatch.time_with_host_clock(work);
    if (m_case.way == CopyWay::on_device) return m_stopwatch.time_queued_cold(work);
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
  std::string m_label;
};

}  // namespace KokkosHostSpaces::Perf

#endif
