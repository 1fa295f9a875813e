// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Pools.hpp"

#include "../Config.hpp"
#include "../Driver.hpp"
#include "../Error.hpp"
#include "../NodeShare.hpp"
#include "../PageLock.hpp"
#include "../os/Fork.hpp"
#include "../os/MemoryLimit.hpp"

#include <algorithm>
#include <chrono>
#include <shared_mutex>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constinit OfThisProcess<Pools> the_pools;

// Counts memory that is being locked for a heap. If that succeeds, it is destroyed with the heap's
// mutex held, so that no reader counts the memory twice.
class BeingLocked {
 public:
  BeingLocked(Heap& heap, std::atomic<std::size_t>& sum, std::size_t bytes,
              std::size_t wanted) noexcept
      : m_heap(heap), m_sum(sum), m_bytes(bytes), m_wanted(wanted) {
    m_sum += m_bytes;
    if (m_wanted > 0) m_heap.bytes_being_locked += m_bytes;
    m_heap.bytes_requested += m_wanted;
  }
  ~BeingLocked() {
    m_sum -= m_bytes;
    if (m_wanted > 0) m_heap.bytes_being_locked -= m_bytes;
    m_heap.bytes_requested -= m_wanted;
  }
  BeingLocked(BeingLocked const&)            = delete;
  BeingLocked& operator=(BeingLocked const&) = delete;

 private:
  Heap& m_heap;
  std::atomic<std::size_t>& m_sum;
  std::size_t const m_bytes, m_wanted;
};

// The heap that a thread uses when the common one is contended, and for how many more allocations.
struct Seat {
  std::size_t number = [] {
    static std::atomic<std::size_t> threads{0};
    return threads.fetch_add(1, std::memory_order_relaxed);
  }();
  std::size_t stays = 0;
};

thread_local Seat seat;

}  // namespace

NodePool::NodePool(MemoryKind kind_of_memory, int node, Retirement& retirement, PageMap& pages,
                   Meter& total)
    : kind(kind_of_memory),
      numa_node(node),
      heaps([&]<std::size_t... i>(std::index_sequence<i...>) {
        using Tells                                 = HeapMeter::Tells;
        constexpr std::size_t smallest[first_apart] = {pool_policy.smallest_large,
                                                       pool_policy.smallest_middle, 0};
        return Heaps{Heap({retirement, pages, meter, total,
                           i < first_apart ? Tells::when_asked : Tells::soon,
                           i < first_apart ? smallest[i] : 0})...};
      }(std::make_index_sequence<first_apart + PoolPolicy::heaps_apart>())) {}

NodePool::Entered NodePool::enter(std::size_t bytes) {
  Heap& own                = shared_for(bytes);
  bool const only_reserved = own.locked_bytes() == 0 && large().reserved_bytes() > 0;
  Heap& shared             = only_reserved ? large() : own;
  if (bytes >= pool_policy.smallest_middle) return {shared, std::unique_lock(shared.mutex)};
  if (seat.stays == 0) {
    std::unique_lock lock(shared.mutex, std::try_to_lock);
    if (lock.owns_lock()) return {shared, std::move(lock)};
    seat.stays = pool_policy.allocations_apart;
  }
  --seat.stays;
  Heap& mine = heaps[first_apart + seat.number % PoolPolicy::heaps_apart];
  return {mine, std::unique_lock(mine.mutex)};
}

void NodePool::prefer(Heap const& heap) noexcept {
  for (std::size_t i = first_apart; i < heaps.size(); ++i) {
    if (&heaps[i] == &heap) seat.number = i - first_apart;
  }
  if (&heap == &common()) seat.stays = 0;
}

Pools::Pools() : node_share(share_of_node()), ledger(bounded_by(node_share, config().pool_limit)) {
  tell_if_assumed(node_share);
}

Pools& Pools::instance() { return the_pools.get(); }

Pools* Pools::existing() noexcept { return the_pools.existing(); }

bool Pools::are_forbidden() noexcept {
  return is_forked_child() && Driver::presence() != Driver::Presence::none;
}

void Pools::refuse_in_child(std::string const& what) {
  throw Error(
      what +
      " (this process is the child of a fork, where CUDA does not work): do it before the fork, "
      "or exec a new program");
}

NodePool& Pools::of(MemoryKind kind, int numa_node) {
  //~ wrong node
  auto const node = static_cast<std::size_t>(numa_node + 1);
  if (node >= most_nodes) {
    throw Error("NUMA node " + std::to_string(numa_node) +
                " cannot be (nodes are numbered from 0 to " + std::to_string(most_nodes - 2) +
                "): name a node of this machine, or -1 for any");
  }
  auto& entry = m_pools[static_cast<std::size_t>(kind)][node];
  if (NodePool* const pool = entry.load(std::memory_order_acquire)) return *pool;
  std::lock_guard const lock(m_making);
  if (NodePool* const pool = entry.load(std::memory_order_relaxed)) return *pool;
  auto* const made = new NodePool(kind, numa_node, retirement, pages, meter);
  entry.store(made, std::memory_order_release);
  return *made;
}

std::unique_lock<std::mutex> Pools::grow(NodePool& pool, Heap& heap, std::size_t bytes,
                                         std::size_t wanted) {
  //~ overdrawn limit
  if (!ledger.reserve(bytes)) {
    throw LimitReached("the limit of the pool, " + limit_in_words() + ", is reached",
                       raise_limit());
  }
  if (m_some_were_refused.exchange(false)) m_some_wait = true;
  BeingLocked const being_locked(heap, m_being_locked, bytes, wanted);
  Region region;
  try {
    check_control_groups(bytes);
    auto const start = std::chrono::steady_clock::now();
    region           = lock_fresh_pages(bytes, pool.kind, pool.numa_node);
    auto const time  = std::chrono::steady_clock::now() - start;
    pool.nanoseconds_locking += static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
    pages.cover(region.pointer, region.bytes);
    Heap::Segments made;
    made.try_emplace(static_cast<char const*>(region.pointer),
                     Segment{region, &heap, nullptr, wanted == 0});
    bool const waits =
        region.origin == Origin::mapped && Driver::presence() != Driver::Presence::none;
    std::unique_lock lock(heap.mutex);
    heap.adopt(made);
    if (waits) m_some_wait = true;  // after the segment can be found
    ledger.arrived();
    return lock;
  } catch (Driver::StillLocked const&) {
    ledger.stays();
    throw;
  } catch (...) {
    if (give_back(region))
      ledger.release(bytes);
    else
      ledger.stays();
    throw;
  }
}

// Compares sums: a kernel that finds no page in a group ends a process, and refuses nothing.
void Pools::check_control_groups(std::size_t bytes) {
  auto const now = GroupWatch::Clock::now();
  if (m_groups.covers(bytes, now)) return;
  GroupMemory const groups       = memory_of_cgroups();
  std::size_t const locked       = ledger.locked();
  std::size_t const being_locked = m_being_locked;
  bool const fits                = locked <= groups.limit && being_locked <= groups.left;
  std::size_t const room = fits ? std::min(groups.limit - locked, groups.left - being_locked) : 0;
  m_groups.allow(room / pool_policy.room_divisor_of_groups, now + pool_policy.groups_are_known_for);
  if (!fits)
    throw Refused("the memory limit of the control group, " + std::to_string(groups.limit) +
                      " bytes, is reached",
                  "raise the memory limit of the job or container");
}

std::string Pools::limit_in_words() const {
  std::size_t const limit = ledger.limit();
  if (limit == 0) return "none";
  return std::to_string(limit) + " bytes" +
         (decides(node_share, limit) ? " for " + ranks_in_words(node_share) : "");
}

std::string Pools::raise_limit() const {
  if (decides(node_share, ledger.limit())) return "raise KOKKOS_HOST_SPACES_NODE_LIMIT";
  return limit_is_set ? "raise the limit of khs::pool::set_limit"
                      : "raise KOKKOS_HOST_SPACES_POOL_LIMIT";
}

void Pools::settle() noexcept {
  on_streams.collect();
  constexpr std::size_t at_once = pool_policy.some_blocks;
  Epoch const over              = retirement.completed();
  for_each_heap([&](Heap& heap) {
    for (bool more = heap.locked_bytes() > 0; more;) {
      std::lock_guard const lock(heap.mutex);
      more = heap.settle(over, at_once);
    }
  });
}

Heap* Pools::heap_to_release(Surplus surplus) noexcept {
  std::size_t const bytes = surplus.bytes;
  Heap* best              = nullptr;
  std::size_t best_size   = 0;
  for_each_heap([&](Heap& heap) {
    if (heap.locked_bytes() == 0) return;
    std::lock_guard const lock(heap.mutex);
    std::size_t const size = heap.releasable(surplus);
    bool const better = size >= bytes ? best_size < bytes || size < best_size : size > best_size;
    if (size == 0 || !better) return;
    best      = &heap;
    best_size = size;
  });
  return best;
}

std::size_t Pools::release_ready(Surplus surplus) noexcept {
  std::size_t const bytes = surplus.bytes;
  settle();
  std::size_t released = 0;
  while (released < bytes) {
    surplus.bytes    = bytes - released;
    Heap* const heap = heap_to_release(surplus);
    if (heap == nullptr) break;
    ledger.leaves();
    std::shared_lock const stay(m_segments_stay);
    Heap::Segments::node_type left;
    {
      std::lock_guard const lock(heap->mutex);
      left = heap->release(surplus);
    }
    if (left.empty()) {  // another thread was faster
      ledger.stays();
      continue;
    }
    Segment const& segment = left.mapped();
    if (!give_back(segment.region)) {
      ledger.stays();
      break;  // a runtime that refuses one is likely to refuse all: the others stay usable
    }
    ledger.release(segment.region.bytes);
    released += segment.region.bytes;
  }
  if (ledger.locked() == 0) m_most_needed = m_exchanges = 0;
  return released;
}

std::size_t Pools::needed_bytes() noexcept {
  std::size_t needed = 0;
  for_each_heap([&](Heap& heap) {
    std::lock_guard const lock(heap.mutex);
    needed += heap.locked_bytes() - heap.ready_bytes();
  });
  return needed;
}

// Reads each heap with its mutex held: a segment released between two readings would count as needed.
std::size_t Pools::excess_over_peak(Heap const& growing, std::size_t growth, std::size_t wanted,
                                    RetiredIs retired_is) noexcept {
  std::size_t needed      = wanted;
  std::size_t spare       = 0;
  std::size_t held        = growth;
  std::size_t allocations = 0;
  for_each_heap([&](Heap& heap) {
    std::lock_guard const lock(heap.mutex);
    std::size_t const locked = heap.locked_bytes();
    held += heap.bytes_being_locked + locked - heap.reserved_bytes();
    needed += heap.bytes_requested;
    allocations += heap.allocations();
    needed += retired_is == RetiredIs::needed ? locked - heap.ready_bytes() : heap.in_use_bytes();
    if (locked > 0 || heap.bytes_being_locked > 0 || &heap == &growing)
      spare += pool_policy.smallest_segment;
  });
  std::size_t most = m_most_needed.load();
  while (most < needed && !m_most_needed.compare_exchange_weak(most, needed)) {
  }
  most                     = std::max(most, needed);
  m_exchange_budget        = allocations / pool_policy.allocations_for_exchange;
  std::size_t const enough = most + most / pool_policy.slack_divisor + spare;
  //~ failure 3a
  return held > enough ? held - enough : 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend
