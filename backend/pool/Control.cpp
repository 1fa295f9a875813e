// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Watching and steering the pools.

#include "../Error.hpp"
#include "../os/Fork.hpp"
#include "Pools.hpp"

#include <algorithm>
#include <limits>

namespace KokkosHostSpaces::Impl::Pool {

namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

// The pools, if there is anything that may be done with them.
Pools* usable_pools() noexcept { return is_forked_child() ? nullptr : Pools::existing(); }

void add(Usage& sum, Usage const& usage) {
  sum.bytes_locked += usage.bytes_locked;
  sum.bytes_in_use += usage.bytes_in_use;
  sum.bytes_asked += usage.bytes_asked;
  sum.bytes_retired += usage.bytes_retired;
  sum.bytes_cached += usage.bytes_cached;
  sum.segments += usage.segments;
  sum.hits += usage.hits;
  sum.misses += usage.misses;
  sum.seconds_locking += usage.seconds_locking;
}

}  // namespace

Statistics statistics() {
  Statistics result;
  Pools* const pools = usable_pools();
  if (pools == nullptr) return result;
  pools->for_each([&](NodePool& pool) {
    Usage usage;
    for (Heap& heap : pool.heaps) {
      std::lock_guard const lock(heap.mutex);
      heap.count(usage, result.spaces);
    }
    usage.bytes_high_water = pool.meter.high_water();
    usage.seconds_locking  = 1e-9 * static_cast<double>(pool.nanoseconds_locking.load());
    add(result.total, usage);
    result.pools.push_back({pool.kind, pool.numa_node, usage});
  });
  result.total.bytes_high_water = pools->meter.high_water();
  result.limit                  = pools->ledger.limit();
  return result;
}

std::optional<Description> describe(void const* pointer) {
  std::optional<Description> result;
  Pools* const pools = usable_pools();
  if (pools == nullptr) return result;
  pools->for_each([&](NodePool& pool) {
    for (Heap& heap : pool.heaps) {
      if (result) return;
      std::lock_guard const lock(heap.mutex);
      result = heap.describe(pointer);
    }
  });
  return result;
}

std::size_t trim(std::size_t bytes_to_keep) {
  Pools* const pools = usable_pools();
  if (pools == nullptr) return 0;
  pools->retirement.reach(pools->retirement.stamp());
  std::size_t const cached = statistics().total.bytes_cached;
  return cached <= bytes_to_keep ? 0 : pools->release_ready(cached - bytes_to_keep);
}

void release_all() noexcept {
  Pools* const pools = usable_pools();
  if (pools == nullptr) return;
  pools->retirement.wait(pools->retirement.stamp());
  pools->release_ready(everything);
  pools->retirement.release_events();
}

void set_limit(std::size_t bytes) {
  if (is_forked_child()) return;
  Pools& pools = Pools::instance();
  pools.ledger.set_limit(bytes);
  pools.release_ready(pools.ledger.excess(0));
}

}  // namespace KokkosHostSpaces::Impl::Pool
