// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Watching and steering the pools.

#include "Control.hpp"

#include "../Config.hpp"
#include "../Error.hpp"
#include "../NodeShare.hpp"
#include "../Registry.hpp"
#include "Pool.hpp"
#include "Pools.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

namespace KokkosHostSpaces {

namespace {

using namespace Impl::Backend;

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

void add(pool::Usage& sum, pool::Usage const& usage) {
  using pool::Usage;
  for (auto const bytes :
       {&Usage::bytes_locked, &Usage::bytes_in_use, &Usage::bytes_asked, &Usage::bytes_retired,
        &Usage::bytes_cached, &Usage::segments, &Usage::hits, &Usage::misses})
    sum.*bytes += usage.*bytes;
  sum.seconds_locking += usage.seconds_locking;
}

std::size_t ready_bytes(Pools& pools) {
  std::size_t sum = 0;
  pools.for_each_heap([&](Heap const& heap) { sum += heap.ready_bytes(); });
  return sum;
}

}  // namespace

pool::Statistics pool::statistics() {
  Statistics result;
  result.registered_segments = registered_ranges();
  Pools* const pools         = Pools::existing();
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
  result.node_share             = pools->node_share;
  result.bytes_node_shared      = pools->ledger.apart();
  result.registered_segments += result.total.segments;
  auto const oldest = std::min(pools->retirement.oldest(), pools->on_streams.oldest());
  if (result.total.bytes_retired > 0 && oldest != Retirement::Clock::time_point::max())
    result.seconds_oldest_retired =
        std::chrono::duration<double>(Retirement::Clock::now() - oldest).count();
  return result;
}

std::optional<pool::Description> pool::describe(void const* pointer) {
  std::optional<Description> result;
  Pools::at(pointer, [&](Heap& heap, Block& block) { result = heap.describe(block, pointer); });
  return result;
}

std::optional<Impl::Backend::Pool::Extent> Impl::Backend::Pool::extent_of(void const* pointer) {
  std::optional<Extent> result;
  Pools::at(pointer, [&](Heap& heap, Block& block) { result = heap.extent_of(block); });
  return result;
}

std::size_t pool::trim(std::size_t bytes_to_keep) {
  Pools* const pools = Pools::existing();
  if (pools == nullptr) return 0;
  pools->make_ready();
  std::size_t const cached = ready_bytes(*pools);
  return cached <= bytes_to_keep ? 0 : pools->release_ready({cached - bytes_to_keep});
}

void pool::set_limit(std::size_t bytes) {
  if (Pools::are_forbidden()) return;
  Pools& pools       = Pools::instance();
  pools.limit_is_set = true;
  pools.ledger.set_limit(bounded_by(pools.node_share, bytes));
  if (pools.ledger.excess(0) > 0) pools.make_ready();
  pools.release_ready({pools.ledger.excess(0)});
}

void Impl::Backend::Pool::count_apart(std::size_t bytes, char const* label) {
  if (Pools::are_forbidden())
    Pools::refuse_in_child("'" + std::string(label) + "' cannot be page-locked");
  Pools& pools = Pools::instance();
  if (pools.ledger.set_apart(bytes)) return;
  pools.make_ready();
  pools.release_ready({pools.ledger.excess(bytes)});
  if (pools.ledger.set_apart(bytes)) return;
  throw OutOfPinnedMemory("'" + std::string(label) + "' cannot have " + std::to_string(bytes) +
                          " bytes, the part of this rank (the limit of the pool, " +
                          pools.limit_in_words() + ", is reached; locked " +
                          std::to_string(pools.ledger.locked()) + ", shared with the node " +
                          std::to_string(pools.ledger.apart()) +
                          "): destroy Views that are not needed, or " + pools.raise_limit());
}

void Impl::Backend::Pool::end_apart(std::size_t bytes) noexcept {
  if (Pools* const pools = Pools::existing()) pools->ledger.end_apart(bytes);
}

void Impl::Backend::Pool::release_all() noexcept {
  Pools* const pools = Pools::existing();
  if (pools == nullptr) return;
  auto const deadline = Retirement::Clock::now() + std::chrono::seconds(config().shortage_timeout);
  pools->retirement.wait(pools->retirement.stamp(), deadline);
  pools->release_ready({everything});
  pools->retirement.release_events();
}

}  // namespace KokkosHostSpaces
