// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_NODE_POOL_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_NODE_POOL_HPP

#include "Heap.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace KokkosHostSpaces::Impl::Backend {

/// The memory of one kind and NUMA node. Threads share the first heap until they get in each
/// other's way; then each takes one of its own for a while.
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

  /// Where there is something, the next blocks shall come from as well.
  void prefer(Heap const& heap) noexcept;

  Heap& common() noexcept { return heaps.front(); }

  MemoryKind const kind;
  int const numa_node;
  Meter meter;
  std::atomic<std::uint64_t> nanoseconds_locking{0};
  std::deque<Heap> heaps;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
