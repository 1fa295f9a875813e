// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The caching pool under the memory spaces. Memory is in use, then retired until all device work
// that was submitted before it was given back is done, then ready for anybody. One pool for each
// kind of memory and NUMA node. All functions are thread-safe. In the child of a fork deallocate
// does nothing, allocate throws, and the others do nothing.
//
// With KOKKOS_HOST_SPACES_POOL=off, each allocation first gives all ready memory back to the
// system. Freed memory thus lives until it is ready and somebody allocates, because giving it back
// waits for kernels and deallocate never does.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_HPP

#include "Region.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl::Pool {

/// What somebody asks for. `space` and `label` appear in messages and statistics.
struct Request {
  std::size_t bytes;                            ///< wanted
  MemoryKind kind   = MemoryKind::page_locked;  ///< which pool
  int numa_node     = -1;                       ///< where it shall lie; -1: anywhere
  char const* space = "";  ///< name of the memory space; a string that lives for ever
  char const* label = "";  ///< label of the View; the first 47 characters are kept
};

/// Memory aligned to 256 bytes, ready for the host and for new device work. nullptr for zero bytes.
/// Waits for device work only when the limit or the system leaves no other way.
/// \throw OutOfPinnedMemory with label, space, bytes, bytes in use, limit and what to do.
/// \throw Error in the child of a fork.
void* allocate(Request const& request);

/// Takes memory back that allocate returned; never waits for a device. Device work submitted before
/// the call may still use it. nullptr is ignored.
void deallocate(void* pointer) noexcept;

/// Memory of one pool, or of all. Locked memory is in use, retired or cached.
struct Usage {
  std::size_t bytes_locked     = 0;  ///< had from the system
  std::size_t bytes_in_use     = 0;  ///< blocks in use, rounding included
  std::size_t bytes_asked      = 0;  ///< what their users asked for
  std::size_t bytes_retired    = 0;  ///< given back, not yet known to be ready
  std::size_t bytes_cached     = 0;  ///< ready
  std::size_t bytes_high_water = 0;  ///< largest bytes_in_use so far
  std::size_t segments         = 0;  ///< stretches of memory had from the system
  std::size_t hits             = 0;  ///< allocations served from the pool
  std::size_t misses           = 0;  ///< allocations that had to lock pages
  double seconds_locking       = 0;  ///< time spent locking pages
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

/// All that the pool holds.
struct Statistics {
  Usage total;                     ///< of all pools
  std::size_t limit = 0;           ///< of bytes_locked; 0: none
  std::vector<PoolUsage> pools;    ///< by kind and NUMA node
  std::vector<SpaceUsage> spaces;  ///< by user
};

/// What the pool holds now. Allocations that other threads make meanwhile may be counted in part.
Statistics statistics();

/// Of a block: had by a user, given back but not known to be ready, ready for anybody.
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

/// The block around any address inside it; nothing if the pool does not know the address.
std::optional<Description> describe(void const* pointer);

/// Gives ready memory back to the system until at most `bytes_to_keep` of it are left, in whole
/// segments that nobody uses. Waits for running kernels if there is something to give back. Returns
/// the bytes given back.
std::size_t trim(std::size_t bytes_to_keep);

/// Waits until retired memory is ready, then gives back all that is not in use, and the events. For
/// the end.
void release_all() noexcept;

/// Limits the memory had from the system, 0: no limit. Gives ready memory back if there is too
/// much.
void set_limit(std::size_t bytes);

/// Memory being reserved in the background. The process does not end before the chunk in work is
/// done.
class Reservation {
 public:
  struct Progress;
  /// Not for users: reserve() makes them.
  explicit Reservation(std::shared_ptr<Progress> progress) : m_progress(std::move(progress)) {}

  std::size_t bytes_asked() const noexcept;  ///< of reserve()
  std::size_t bytes_done() const noexcept;   ///< page-locked by now
  bool finished() const noexcept;            ///< all is done, or it has failed

  /// Waits for the end. \throw OutOfPinnedMemory or CudaError if not all could be reserved.
  void wait() const;

 private:
  std::shared_ptr<Progress> m_progress;
};

/// Locks pages in the background, in chunks of `largest_block`: the largest allocation to be served
/// from them. \throw Error in the child of a fork.
Reservation reserve(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked,
                    int numa_node = -1, std::size_t largest_block = std::size_t(1) << 30);

}  // namespace KokkosHostSpaces::Impl::Pool

#endif
