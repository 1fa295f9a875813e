// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// All pools of the process.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_POOLS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_POOLS_HPP

#include "../Error.hpp"
#include "../os/MemoryLimit.hpp"
#include "RetainTable.hpp"
#include "Heap.hpp"
#include "Ledger.hpp"
#include "PageMap.hpp"
#include "Retirement.hpp"
#include "StreamRetirement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <shared_mutex>

namespace KokkosHostSpaces::Impl::Backend {

/// The heaps of one memory kind and NUMA node: [0] for large requests, [1] for mid-size ones, [2] for
/// small ones, shared by all threads; the others for small requests of threads that found [2] locked, for
/// a while. A block of one size then hinders no larger one, which needs a whole segment.
class NodePool {
 public:
  NodePool(MemoryKind kind_of_memory, int node, Retirement& retirement, PageMap& pages,
           Meter& total);

  struct Entered {
    Heap& heap;
    std::unique_lock<std::mutex> lock;
  };

  /// Chooses the heap for a request of the calling thread and locks its mutex.
  Entered enter(std::size_t bytes);

  /// Makes the calling thread use this heap for its next small requests.
  void prefer(Heap const& heap) noexcept;

  /// Lets small requests that find nothing ready in their own heaps take `bytes` in all from `heap`, which has just
  /// served a request of another size.
  void let_guests_in(Heap& heap, std::size_t bytes) noexcept {
    m_host       = &heap;
    m_for_guests = bytes;
  }

  /// Returns the heap that lends memory to a request of `bytes`; nullptr: none does.
  Heap* host_of_guest(std::size_t bytes) noexcept {
    std::size_t left = m_for_guests;
    return bytes <= pool_policy.largest_guest && left >= bytes &&
                   m_for_guests.compare_exchange_strong(left, left - bytes)
               ? m_host.load()
               : nullptr;
  }

  Heap& large() noexcept { return heaps[0]; }
  Heap& middle() noexcept { return heaps[1]; }
  Heap& common() noexcept { return heaps[2]; }

  /// The heap for requests of `bytes` that all threads share.
  Heap& shared_for(std::size_t bytes) noexcept {
    return bytes >= pool_policy.smallest_large    ? large()
           : bytes >= pool_policy.smallest_middle ? middle()
                                                  : common();
  }

  /// True if `heap` is for requests of `bytes`.
  bool is_for(std::size_t bytes, Heap const& heap) noexcept {
    bool const is_for_small = &heap != &large() && &heap != &middle();
    return bytes < pool_policy.smallest_middle ? is_for_small : &heap == &shared_for(bytes);
  }

  MemoryKind const kind;
  int const numa_node;
  Meter meter;
  std::atomic<std::uint64_t> nanoseconds_locking{0};

 private:
  std::atomic<Heap*> m_host{nullptr};        ///< set before there is anything for guests
  std::atomic<std::size_t> m_for_guests{0};  ///< bytes

  static constexpr std::size_t first_apart = 3;
  using Heaps = std::array<Heap, first_apart + PoolPolicy::heaps_apart>;

 public:
  Heaps heaps;  ///< no pointers to heaps: one allocation makes the pool, or fails
};

/// The pool's limit forbids more memory; the system was not asked.
class LimitReached : public Refused {
 public:
  using Refused::Refused;
};

class Pools {
 public:
  /// Those of this process: the child of a fork makes its own.
  /// \throw ConfigurationError
  static Pools& instance();

  /// nullptr before the first use.
  static Pools* existing() noexcept;

  /// True in the child of a fork, unless there certainly is no device: CUDA belongs to the parent.
  static bool are_forbidden() noexcept;

  /// \throw Error \param what such as "memory cannot be reserved"
  [[noreturn]] static void refuse_in_child(std::string const& what);

  /// For instance().
  Pools();

  /// \throw std::bad_alloc
  NodePool& of(MemoryKind kind, int numa_node);

  template <class F>
  void for_each(F f) {
    for (auto& nodes : m_pools) {
      for (auto& entry : nodes) {
        if (NodePool* const pool = entry.load(std::memory_order_acquire)) f(*pool);
      }
    }
  }

  template <class F>
  void for_each_heap(F f) {
    for_each([&](NodePool& pool) {
      for (Heap& heap : pool.heaps) f(heap);
    });
  }

  /// Calls f(heap, block) with the heap's mutex held for the block that contains an address, in any
  /// state, if there is one.
  template <class F>
  static void at(void const* pointer, F f) {
    Pools* const pools = existing();
    if (pools == nullptr || !pools->pages.may_cover(pointer)) return;
    bool found = false;
    pools->for_each_heap([&](Heap& heap) {
      if (found || heap.locked_bytes() == 0) return;
      std::lock_guard const lock(heap.mutex);
      Block* const block = heap.block_at(pointer);
      found              = block != nullptr;
      if (found) f(heap, *block);
    });
  }

  /// Page-locks a segment of `bytes` and adds it to the heap. Returns the lock of the heap's mutex.
  /// \param wanted bytes of the request; 0: a reservation
  /// \throw LimitReached and what lock_fresh_pages throws
  std::unique_lock<std::mutex> grow(NodePool& pool, Heap& heap, std::size_t bytes,
                                    std::size_t wanted);

  /// Page-locks the segments that were mapped before a device had a context. Those that cannot be
  /// locked stay in use, are told of on stderr, and tried again when the pool has grown. Waits for
  /// another thread that does it, or that gives memory back.
  void lock_waiting() noexcept;

  /// The same, but leaves it to that thread, and so waits for no device.
  void lock_waiting_unless_busy() noexcept;

  /// True if there are such segments; one load.
  bool some_wait() const noexcept { return m_some_wait.load(std::memory_order_relaxed); }

  /// Makes all memory ready whose epoch is over. Holds no mutex for more than 256 blocks.
  void settle() noexcept;

  /// Asks the devices, then makes all memory ready that they are done with.
  Retirement::Progress make_ready() noexcept {
    Retirement::Progress const progress = retirement.reach_all();
    settle();
    return progress;
  }

  /// Gives ready memory back; may wait for kernels. Stops when the runtime refuses to unlock a
  /// segment, which is lost. Returns the bytes given back.
  std::size_t release_ready(Surplus surplus) noexcept;

  /// Bytes in use or retired.
  std::size_t needed_bytes() noexcept;

  /// Bytes allocated from and deallocated to all heaps so far.
  Traffic traffic() const noexcept { return meter.traffic(); }

  /// Tells how to count retired memory of which the devices have not been asked.
  enum class RetiredIs { needed, ready };

  /// Returns the bytes to give back before a heap grows by `growth` for a request of `wanted` bytes, so
  /// that locked <= 9/8 * largest need so far + smallest segment * heaps used (see PoolPolicy). Does not
  /// count reserved memory.
  std::size_t excess_over_peak(Heap const& growing, std::size_t growth, std::size_t wanted,
                               RetiredIs retired_is) noexcept;

  /// Notes that segments were given back to lock others, which costs much. Beyond those that the policy
  /// allows, the pool grows to twice its need.
  void note_exchange() noexcept {
    m_exchanges = std::max(m_exchanges.load(), m_exchange_budget.load()) + 1;
  }

  bool exchanges_often() const noexcept {
    return m_exchanges >= pool_policy.exchanges + m_exchange_budget;
  }

  /// The most bytes that were seen in use, or retired behind unfinished work, when the pool grew.
  std::size_t most_needed() const noexcept { return m_most_needed.load(); }

  /// Names the limit in words; the call or variable that raises it.
  std::string limit_in_words() const;
  std::string raise_limit() const;

  /// True if release_ready would give something back.
  bool can_release(Surplus surplus) noexcept { return heap_to_release(surplus) != nullptr; }

  Retirement retirement;
  StreamRetirement on_streams{retirement};
  PageMap pages;
  Meter meter;
  pool::NodeShare const node_share;
  Ledger ledger;  ///< its limit is never above the share
  RetainTable retained;
  std::atomic<bool> limit_is_set{false};  ///< by pool::set_limit, not by the environment
  std::mutex making_room;  ///< held by the thread that gives memory back in a shortage

 private:
  Heap* heap_to_release(Surplus surplus) noexcept;
  void lock_all_waiting() noexcept;
  bool lock_waiting_of(Heap& heap) noexcept;

  /// Called with the `bytes` that are being locked in the ledger. \throw Refused
  void check_control_groups(std::size_t bytes);

  static constexpr std::size_t most_nodes = 1025;  // Linux has at most 1024; one more for "any"
  std::mutex m_making;                             ///< held while a pool is made
  std::array<std::array<std::atomic<NodePool*>, most_nodes>, memory_kinds> m_pools{};
  std::atomic<bool> m_some_wait{false};
  std::atomic<bool> m_some_were_refused{false};
  std::shared_mutex m_segments_stay;           ///< shared by who takes a segment out of a heap
  std::atomic<std::size_t> m_being_locked{0};  ///< bytes
  GroupWatch m_groups;
  std::atomic<std::size_t> m_most_needed{0};
  std::atomic<std::size_t> m_exchanges{
      0};  ///< >= m_exchange_budget after each: unused ones do not add up
  std::atomic<std::size_t> m_exchange_budget{0};  ///< by allocations
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
