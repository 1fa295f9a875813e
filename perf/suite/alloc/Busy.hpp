// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Latencies while kernels run. Memory freed meanwhile is not reused before they end, so a block for each
// allocation is made beforehand.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_BUSY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_BUSY_HPP

#include "BusyDevice.hpp"
#include "Measures.hpp"

#include <limits>

namespace KokkosHostSpaces::Perf {

template <class Way>
auto make_blocks(Way const& way, std::size_t bytes, std::size_t count) {
  std::vector<decltype(way(bytes))> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(way(bytes));
  return blocks;
}

/// Measures allocating and freeing beside a kernel on each of 8 streams.
template <class Way>
Measure busy(Way const& way, std::size_t bytes, std::size_t count) {
  return {[=](bool damage) {
    make_blocks(way, bytes, count);
    // Let the pool find on an idle device that all retired blocks are ready.
    Kokkos::fence();
    pool::trim(std::numeric_limits<std::size_t>::max());
    BusyDevice const device(8, 1);
    return time_pairs(
        way, [bytes] { return bytes; }, count, [&device] { return device.is_busy(); }, damage);
  }};
}

/// Measures freeing alone, beside a kernel that began after the allocation.
template <class Way>
Measure free_busy(Way const& way, std::size_t bytes, std::size_t count) {
  return {[=](bool damage) {
    Latencies latencies;
    auto blocks = make_blocks(way, bytes, count);
    for (auto const& block : blocks)
      latencies.verified &= keeps_its_ends(begin_of(block), bytes, 'f', damage) &&
                            is_page_locked_throughout(begin_of(block), bytes);
    BusyDevice const device(1, 0.05);
    while (!blocks.empty() && device.is_busy()) {
      auto const start = Clock::now();
      blocks.pop_back();
      latencies.seconds.push_back(seconds_since(start));
    }
    return latencies;
  }};
}

}  // namespace KokkosHostSpaces::Perf

#endif
