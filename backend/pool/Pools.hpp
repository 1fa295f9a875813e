// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// All pools of the process.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_POOLS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_POOLS_HPP

#include "../Error.hpp"
#include "RetainTable.hpp"
#include "Heap.hpp"
#include "Ledger.hpp"
#include "PageMap.hpp"
#include "Retirement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace KokkosHostSpaces::Impl::Backend {

/// The memory of one kind and NUMA node: a heap for large requests, one that all threads share for
/// small requests, and heaps that threads use apart for a while after they contended for that one.
class NodePool {
 public:
  NodePool(MemoryKind kind_of_memory, int node, Retirement& retirement, PageMap& pages,
           Meter& total);

  struct Entered {
    Heap& heap;
    std::unique_lock<std::mutex> lock;
  };

  /// Locks the heap that serves the calling thread a block of `bytes`.
  Entered enter(std::size_t bytes);

  /// The calling thread takes its next blocks from this heap, too.
  void prefer(Heap const& heap) noexcept;

  Heap& large() noexcept { return heaps[0]; }
  Heap& common() noexcept { return heaps[1]; }

  /// The heap that grows for a request which entered another.
  Heap& grows_for(std::size_t bytes, Heap& entered) noexcept {
    return &entered == &large() && bytes < Heap::smallest_large ? common() : entered;
  }

  /// Is that heap for requests of this size?
  bool is_for(std::size_t bytes, Heap const& heap) noexcept {
    return (&heap == &large()) == (bytes >= Heap::smallest_large);
  }

  MemoryKind const kind;
  int const numa_node;
  Meter meter;
  std::atomic<std::uint64_t> nanoseconds_locking{0};

 private:
  static constexpr std::size_t heaps_apart = 16;
  using Heaps                              = std::array<Heap, 2 + heaps_apart>;

 public:
  Heaps heaps;  ///< in place: a pool is made by one allocation, or not at all
};

/// The limit refuses; the system was not asked.
class LimitReached : public OutOfPinnedMemory {
 public:
  using OutOfPinnedMemory::OutOfPinnedMemory;
};

class Pools {
 public:
  /// Made on first use, never destroyed: memory is given back until the very end. \throw
  /// ConfigurationError
  static Pools& instance();

  /// nullptr before the first use.
  static Pools* existing() noexcept;

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

  /// Calls f(heap, block) with the heap's mutex held, for the block around an address, in whatever
  /// state it is; false if there is none.
  template <class F>
  bool at(void const* pointer, F f) {
    for (;;) {
      void const* const begin = pages.begin_of(pointer);  // before a lock is held: it may take long
      bool held = false, found = false;
      for_each_heap([&](Heap& heap) {
        if (begin == nullptr || held || heap.locked_bytes() == 0) return;
        std::lock_guard const lock(heap.mutex);
        held               = heap.holds(pointer);
        Block* const block = held && heap.holds(begin) ? pages.find(begin) : nullptr;
        found = block != nullptr && pointer < static_cast<void*>(block->address + block->bytes);
        if (found) f(heap, *block);
      });
      if (found || !held) return found;  // else blocks were cut or merged meanwhile
    }
  }

  /// Locks `bytes` and adds them to the heap, whose lock is held on return. `wanted`: bytes of the
  /// request; 0: a reservation. \throw LimitReached and what lock_fresh_pages throws.
  std::unique_lock<std::mutex> grow(NodePool& pool, Heap& heap, std::size_t bytes,
                                    std::size_t wanted);

  /// Makes all memory ready whose epoch is over. Holds each lock for at most 256 blocks.
  void settle() noexcept;

  /// Asks the devices, then makes all memory ready that they are done with.
  Retirement::Progress make_ready() noexcept {
    Retirement::Progress const progress = retirement.reach_all();
    settle();
    return progress;
  }

  /// Gives ready memory back; may wait for kernels. Returns the bytes given back.
  std::size_t release_ready(Surplus surplus) noexcept;

  /// Bytes in use or retired.
  std::size_t needed_bytes() noexcept;

  /// Bytes taken from all heaps and given back to them, since ever. Reads what was taken from all
  /// heaps first: taken - given back <= what was in use when the last of these was read. So a block
  /// that comes back to one heap and is taken from another is never counted twice.
  struct Traffic {
    std::size_t taken                     = 0;
    std::size_t given_back                = 0;
    bool operator==(Traffic const&) const = default;
    std::size_t in_use() const noexcept { return taken > given_back ? taken - given_back : 0; }
  };
  Traffic traffic() noexcept;

  /// What is retired but may be over by now, for nobody asked.
  enum class Unasked { is_needed, is_ready };

  /// Returns the bytes to give back before a heap grows by `growth` for a request of `wanted`, so
  /// that the pool holds at most 9/8 of the largest need so far and a smallest segment for each heap.
  /// Does not count reserved memory.
  std::size_t hoarded(Heap const& growing, std::size_t growth, std::size_t wanted,
                      Unasked unasked) noexcept;

  /// Notes that segments were given back to lock others. 40 exchanges are allowed, and one more for
  /// every 4000 allocations, because fresh pages cost much; then the pool grows to twice its need.
  void note_exchange() noexcept { m_exchanges = std::max(m_exchanges.load(), m_earned.load()) + 1; }

  bool exchanges_often() const noexcept { return m_exchanges >= 40 + m_earned; }

  /// The most bytes in use, or retired behind unfinished work, that were seen when the pool grew.
  std::size_t most_needed() const noexcept { return m_most_needed.load(); }

  /// Is there anything that release_ready would give back?
  bool can_release(Surplus surplus) noexcept { return heap_to_release(surplus) != nullptr; }

  Retirement retirement;
  PageMap pages;
  Meter meter;
  pool::NodeShare const node_share;
  Ledger ledger;  ///< its limit is never above the share
  RetainTable retained;
  std::mutex
      making_room;  ///< held by the one thread that gives memory back and waits in a shortage

 private:
  Pools();
  Heap* heap_to_release(Surplus surplus) noexcept;

  static constexpr std::size_t most_nodes = 1025;  // Linux has at most 1024; and one for "anywhere"
  std::mutex m_making;                             ///< held while a pool is made
  std::array<std::array<std::atomic<NodePool*>, most_nodes>, 2> m_pools{};
  std::atomic<std::size_t> m_most_needed{0};
  std::atomic<std::size_t> m_exchanges{0};  ///< never fewer than were earned: no hoard of those
  std::atomic<std::size_t> m_earned{0};     ///< allocations / 4000
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
