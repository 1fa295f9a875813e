// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Statistics of the pool, and descriptions of its blocks.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_STATISTICS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_STATISTICS_HPP

#include "../MemoryKind.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::pool {

/// Memory of one pool, or of all. Locked memory is in use, retired or cached.
struct Usage {
  std::size_t bytes_locked  = 0;  ///< page-locked
  std::size_t bytes_in_use  = 0;  ///< blocks in use, rounding included
  std::size_t bytes_asked   = 0;  ///< what their users asked for
  std::size_t bytes_retired = 0;  ///< deallocated, not yet known to be ready
  std::size_t bytes_cached  = 0;  ///< ready
  std::size_t bytes_high_water =
      0;                       ///< largest bytes_in_use so far; of threads at once, perhaps less
  std::size_t segments   = 0;  ///< ranges that were page-locked
  std::size_t hits       = 0;  ///< allocations served from the pool
  std::size_t misses     = 0;  ///< allocations that had to lock pages
  double seconds_locking = 0;  ///< time spent locking pages
};

/// Memory of one kind on one NUMA node.
struct PoolUsage {
  MemoryKind kind;  ///< of the memory
  int numa_node;    ///< it is bound to; -1: to none
  Usage usage;      ///< of this pool
};

/// Memory of one memory space, or of another user of the pool.
struct SpaceUsage {
  std::string space;             ///< its name
  std::size_t bytes_in_use = 0;  ///< rounding included
  std::size_t bytes_asked  = 0;  ///< what its users asked for
  std::size_t blocks       = 0;  ///< in use
  std::size_t allocations  = 0;  ///< so far
};

/// The share of this process of KOKKOS_HOST_SPACES_NODE_LIMIT.
struct NodeShare {
  std::size_t bytes = 0;  ///< the limit / ranks; 0: no limit was set
  int ranks         = 1;  ///< of the node
  std::string source{};   ///< the variable that tells `ranks`; empty: none does, 1 is assumed
};

/// The memory of the pool, and the number of registered segments.
struct Statistics {
  Usage total;  ///< of all pools
  /// Of total.bytes_locked and bytes_node_shared together, the node's share considered; 0: none.
  std::size_t limit = 0;
  NodeShare node_share;  ///< bounds `limit`
  /// Of the `NodeShared` tables: the part of this rank, so that the ranks of a node together count each
  /// table once. Page-locked, counted toward `limit`, and not in `total`.
  std::size_t bytes_node_shared = 0;
  /// Segments of the pool, and `Registration`s. All processes of a node together can have about
  /// 65 000.
  std::size_t registered_segments = 0;
  /// Age of the oldest retired memory whose work had not ended when the pool last asked: seconds since
  /// an allocation first asked for that work, or since pool::retire_on. 0: there is none.
  double seconds_oldest_retired = 0;
  std::vector<PoolUsage> pools;    ///< by kind and NUMA node
  std::vector<SpaceUsage> spaces;  ///< by user
};

/// Counts the memory of the pool: in total, for each memory kind and NUMA node, and for each space.
/// Allocations of other threads during the call may be counted in part.
Statistics statistics();

/// The state of a block: allocated; deallocated, not known to be ready; ready for any request.
enum class State { in_use, retired, cached };

/// A block of memory and its user.
struct Description {
  std::string label;  ///< of the user, or the last one of retired memory; empty if it is cached
  std::string space;  ///< likewise
  std::size_t bytes;  ///< that the user asked for; of the block if it is cached
  int numa_node;      ///< it is bound to; -1: to none
  MemoryKind kind;    ///< of its pages
  State state;        ///< now
};

/// Describes the block that contains an address, with its present or last owner; nullopt for memory
/// that is not of the pool.
std::optional<Description> describe(void const* pointer);

}  // namespace KokkosHostSpaces::pool

#endif
