// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// All pools of the process.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_POOLS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_POOLS_HPP

#include "Heap.hpp"
#include "PageMap.hpp"
#include "Retirement.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>

namespace KokkosHostSpaces::Impl {

/// The memory of one kind and NUMA node. Threads share the first heap until they get in each
/// other's way.
class NodePool {
 public:
  NodePool(MemoryKind kind_of_memory, int node, Retirement& retirement, PageMap& pages,
           Meter& total);

  struct Entered {
    Heap& heap;
    std::unique_lock<std::mutex> lock;
  };

  /// Locks the heap from which the calling thread shall have a block of `bytes`.
  Entered enter(std::size_t bytes);

  MemoryKind const kind;
  int const numa_node;
  Meter meter;
  std::atomic<std::uint64_t> nanoseconds_locking{0};
  std::deque<Heap> heaps;
};

/// Bytes had from the system, and how many may be.
class Ledger {
 public:
  explicit Ledger(std::size_t limit) : m_limit(limit) {}

  /// Notes that `bytes` are going to be locked; false if the limit forbids it.
  bool reserve(std::size_t bytes) noexcept;
  void release(std::size_t bytes) noexcept { m_locked.fetch_sub(bytes); }

  std::size_t limit() const noexcept { return m_limit.load(); }
  void set_limit(std::size_t bytes) noexcept { m_limit.store(bytes); }

  /// Bytes that must be given back before `bytes` more can be locked.
  std::size_t excess(std::size_t bytes) const noexcept;

 private:
  std::atomic<std::size_t> m_locked{0};
  std::atomic<std::size_t> m_limit;
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

  /// Locks `bytes` and adds them to the heap, whose lock is held on return. \throw
  /// OutOfPinnedMemory and what lock_fresh_pages throws.
  std::unique_lock<std::mutex> grow(NodePool& pool, Heap& heap, std::size_t bytes, bool reserved);

  /// Gives at least `bytes` of segments back that are ready and that nobody uses, or all there are.
  /// May wait for kernels. Returns the bytes given back.
  std::size_t release_ready(std::size_t bytes) noexcept;

  Retirement retirement;
  PageMap pages;
  Meter meter;
  Ledger ledger;

 private:
  Pools();

  static constexpr std::size_t most_nodes = 1025;  // Linux has at most 1024; and one for "anywhere"
  std::array<std::array<std::atomic<NodePool*>, most_nodes>, 2> m_pools{};
};

}  // namespace KokkosHostSpaces::Impl

#endif
