// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Measurements of any way. Numbers of operations are fixed, so that all ranks do the same.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_MEASURES_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_MEASURES_HPP

#include "../Effort.hpp"
#include "AllocPair.hpp"
#include "BusyDevice.hpp"

#include <optional>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Times `count` pairs of an allocation and its free.
template <class Way>
Latencies time_pairs(Way const& way, std::size_t bytes, std::size_t count, bool damage) {
  Latencies latencies;
  latencies.seconds.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto start = Clock::now();
    std::optional block(way(bytes));
    double const allocating = seconds_since(start);
    char* const data        = begin_of(*block);
    latencies.verified &= keeps_its_ends(data, bytes, char(i), damage);
    if (i == 0) latencies.verified &= is_page_locked_throughout(data, bytes);
    start = Clock::now();
    block.reset();
    latencies.seconds.push_back(allocating + seconds_since(start));
  }
  return latencies;
}

/// Takes what the pool still keeps and could serve `bytes`: a block in use keeps all of its segment, however large.
inline std::vector<Kokkos::View<char*, PinnedSpace>> take_kept_memory(std::size_t bytes) {
  std::vector<Kokkos::View<char*, PinnedSpace>> taken;
  auto const now = [] { return pool::statistics().total; };
  for (std::size_t const misses = now().misses;
       now().bytes_cached >= bytes && now().misses == misses;)
    taken.emplace_back(Kokkos::view_alloc("kept", Kokkos::WithoutInitializing), bytes);
  return taken;
}

/// Measures allocating memory that is new to the process, from an emptied pool.
template <class Way>
Measure cold(Way way, std::size_t bytes) {
  return [=](bool damage) {
    (void)way(4096);  // starts what the first allocation of all starts
    forget_kept_memory();
    auto const taken     = take_kept_memory(bytes);
    auto const before    = pool::statistics().total;
    auto const start     = Clock::now();
    auto const block     = way(bytes);
    double const seconds = seconds_since(start);
    auto const after     = pool::statistics().total;
    bool const is_ours   = after.bytes_in_use >= before.bytes_in_use + bytes;
    char* const data     = begin_of(block);
    return Latencies{{seconds},
                     (after.misses > before.misses || !is_ours) &&
                         is_page_locked_throughout(data, bytes) &&
                         keeps_its_ends(data, bytes, 'c', damage)};
  };
}

/// Pairs in a sample: fewer for a way that page-locks memory each time.
inline std::size_t warm_pairs(bool caches, std::size_t bytes) {
  return caches ? 1000 : std::clamp<std::size_t>(40 * MiB / bytes, 1, 200);
}

/// Measures allocating and freeing in turn. A way that caches is warmed up.
template <class Way>
Measure warm(WayInfo const& info, Way way, std::size_t bytes) {
  return [=](bool damage) {
    if (info.caches) (void)way(bytes);
    return time_pairs(way, bytes, warm_pairs(info.caches, bytes), damage);
  };
}

template <class Way>
auto make_blocks(Way const& way, std::size_t bytes, std::size_t count) {
  std::vector<decltype(way(bytes))> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(way(bytes));
  return blocks;
}

/// Measures freeing alone, beside a kernel that began after the allocation.
template <class Way>
Measure free_busy(Way way, std::size_t bytes, std::size_t count) {
  return [=](bool damage) {
    Latencies latencies;
    auto blocks = make_blocks(way, bytes, count);
    for (auto const& block : blocks)
      latencies.verified &= keeps_its_ends(begin_of(block), bytes, 'f', damage) &&
                            is_page_locked_throughout(begin_of(block), bytes);
    BusyDevice const device(0.05);
    while (!blocks.empty() && device.is_busy()) {
      auto const start = Clock::now();
      blocks.pop_back();
      latencies.seconds.push_back(seconds_since(start));
    }
    return latencies;
  };
}

}  // namespace KokkosHostSpaces::Perf

#endif
