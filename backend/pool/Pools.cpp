// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Pools.hpp"

#include "../Config.hpp"
#include "../Error.hpp"
#include "../PageLock.hpp"

#include <chrono>
#include <limits>
#include <memory>
#include <string>

namespace KokkosHostSpaces::Impl {

namespace {

std::atomic<Pools*> the_pools{nullptr};

}  // namespace

NodePool::NodePool(MemoryKind kind_of_memory, int node, Retirement& retirement, PageMap& pages,
                   Meter& total)
    : kind(kind_of_memory), numa_node(node) {
  constexpr int heap_count =
      17;  // one that all share, and 16 for threads that got in each other's way
  for (int i = 0; i < heap_count; ++i)
    heaps.emplace_back(Heap::Shared{retirement, pages, meter, total});
}

NodePool::Entered NodePool::enter(std::size_t bytes) {
  constexpr std::size_t largest_apart = std::size_t(1) << 20;  // large blocks are for every thread
  static std::atomic<std::size_t> threads{0};
  thread_local std::size_t const number = threads.fetch_add(1, std::memory_order_relaxed);
  thread_local bool crowded             = false;

  Heap& common = heaps.front();
  if (bytes > largest_apart) return {common, std::unique_lock(common.mutex)};
  if (!crowded) {
    std::unique_lock lock(common.mutex, std::try_to_lock);
    if (lock.owns_lock()) return {common, std::move(lock)};
    crowded = true;
  }
  Heap& mine = heaps[1 + number % (heaps.size() - 1)];
  return {mine, std::unique_lock(mine.mutex)};
}

bool Ledger::reserve(std::size_t bytes) noexcept {
  std::size_t const most = limit();
  std::size_t locked     = m_locked.load();
  do {
    if (most != 0 && (bytes > most || locked > most - bytes)) return false;
  } while (!m_locked.compare_exchange_weak(locked, locked + bytes));
  return true;
}

std::size_t Ledger::excess(std::size_t bytes) const noexcept {
  std::size_t const most   = limit();
  std::size_t const wanted = m_locked.load() + bytes;
  return most == 0 || wanted <= most ? 0 : wanted - most;
}

Pools::Pools() : ledger(config().pool_limit) {}

Pools& Pools::instance() {
  static Pools* const pools = [] {
    auto* const made = new Pools;
    the_pools.store(made);
    return made;
  }();
  return *pools;
}

Pools* Pools::existing() noexcept { return the_pools.load(std::memory_order_acquire); }

NodePool& Pools::of(MemoryKind kind, int numa_node) {
  auto const node = static_cast<std::size_t>(numa_node + 1);
  if (node >= most_nodes) {
    throw Error("NUMA node " + std::to_string(numa_node) +
                " cannot be (nodes are numbered from 0 to " + std::to_string(most_nodes - 2) +
                "): name a node of this machine, or -1 for any");
  }
  auto& entry = m_pools[kind == MemoryKind::page_locked ? 0 : 1][node];
  if (NodePool* const pool = entry.load(std::memory_order_acquire)) return *pool;
  auto made      = std::make_unique<NodePool>(kind, numa_node, retirement, pages, meter);
  NodePool* pool = nullptr;
  if (entry.compare_exchange_strong(pool, made.get(), std::memory_order_acq_rel))
    pool = made.release();
  return *pool;
}

std::unique_lock<std::mutex> Pools::grow(NodePool& pool, Heap& heap, std::size_t bytes,
                                         bool reserved) {
  if (!ledger.reserve(bytes)) {
    throw OutOfPinnedMemory("the limit of the pool, " + std::to_string(ledger.limit()) +
                            " bytes, is reached");
  }
  Region region;
  std::unique_lock lock(heap.mutex, std::defer_lock);
  try {
    auto const start = std::chrono::steady_clock::now();
    region           = lock_fresh_pages(bytes, pool.kind, pool.numa_node);
    auto const time  = std::chrono::steady_clock::now() - start;
    pool.nanoseconds_locking += static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
    lock.lock();
    heap.adopt(region, reserved);
    return lock;
  } catch (...) {
    if (lock.owns_lock()) lock.unlock();
    give_back(region);
    ledger.release(bytes);
    throw;
  }
}

std::size_t Pools::release_ready(std::size_t bytes) noexcept {
  std::size_t released = 0;
  for_each([&](NodePool& pool) {
    for (Heap& heap : pool.heaps) {
      std::list<Segment> segments;
      if (released < bytes) {
        std::lock_guard const lock(heap.mutex);
        released += heap.release(bytes - released, segments);
      }
      for (Segment const& segment : segments) {
        give_back(segment.region);
        ledger.release(segment.region.bytes);
      }
    }
  });
  return released;
}

}  // namespace KokkosHostSpaces::Impl
