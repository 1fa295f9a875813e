// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_SLOW_PATH_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_SLOW_PATH_HPP

#include "Pool.hpp"
#include "Pools.hpp"

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// An allocation for which nothing lay ready, and the steps that it can take. No lock is held
/// between them. All may throw std::bad_alloc.
struct SlowPath {
  Pools& pools;
  NodePool& pool;
  Heap& heap;  ///< where the calling thread looked first
  Pool::Request const& request;
  std::size_t const locked_before = heap.locked_bytes();  ///< there, when it looked last

  /// From one heap of the pool; looks at all there that was given back, a little at a time.
  void* take(Heap& from, Heap::Effort effort) const;

  /// Whatever any heap of the pool has ready.
  void* take_anywhere() const;

  struct Refusal {
    std::string why   = {};
    bool is_of_system = false;  ///< else of the limit
  };

  /// From `bytes` of new memory; nullptr, and why, if the limit or the system refuses.
  void* take_grown(std::size_t bytes, Refusal& refusal) const;

  /// The limit or the system refuses more. Tries again while other threads lock memory or give some
  /// back, gives ready memory back itself, and waits for what is retired. \throw OutOfPinnedMemory
  void* take_in_shortage(std::size_t least) const;

  /// Why the request cannot be met, whatever is given back, if the smallest segment that would serve
  /// it has so many bytes; empty if it could.
  std::string why_impossible(std::size_t least) const;

  [[noreturn]] void refuse(std::string const& why) const;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
