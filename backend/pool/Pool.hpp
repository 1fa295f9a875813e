// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The caching pool under the memory spaces. Memory is in use, then retired until all device work
// that was submitted before it was given back is done, then ready for anybody. One pool for each
// kind of memory and NUMA node. All functions are thread-safe. In the child of a fork deallocate
// does nothing, allocate throws, and the others do nothing.
//
// With KOKKOS_HOST_SPACES_POOL=off, each allocation beside which no device works first gives all
// ready memory back to the system. Freed memory thus lives until somebody allocates who need not
// wait for kernels, because giving it back does and deallocate never does.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_POOL_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_POOL_HPP

#include "../MemoryKind.hpp"
#include "Control.hpp"
#include "Statistics.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace KokkosHostSpaces::Impl::Backend::Pool {

/// What somebody asks for. `space` and `label` appear in messages and statistics.
struct Request {
  std::size_t bytes;                            ///< wanted
  MemoryKind kind   = MemoryKind::page_locked;  ///< which pool
  int numa_node     = -1;                       ///< where it shall lie; -1: anywhere
  char const* space = "";  ///< name of the memory space; a string that lives for ever
  char const* label = "";  ///< label of the View; the first 47 characters are kept
};

/// Memory aligned to 256 bytes, ready for the host and for new device work. nullptr for zero bytes.
/// Waits for device work only when the limit or the system leaves no other way, and then at most
/// KOKKOS_HOST_SPACES_SHORTAGE_TIMEOUT seconds; or, before the pool would hold much more than was
/// ever needed at once, to give back what is ready and does not fit: at most a second, and never
/// again for work that lasts longer.
/// \throw OutOfPinnedMemory with label, space, bytes, bytes in use, limit and what to do.
/// \throw Error in the child of a fork.
void* allocate(Request const& request);

/// Takes memory back that allocate returned; calls neither the driver nor the system, and takes no
/// lock, or a short one if it is kept. Device work submitted before the call may still use it.
/// nullptr is ignored.
void deallocate(void* pointer) noexcept;

/// Keeps the memory in use to which an address belongs, also after it was given back, until what is
/// returned is let go. nullptr if nobody has that memory from the pool. \throw std::bad_alloc
void* keep(void const* pointer);

/// Lets memory go that was kept, which may call neither the driver nor the system.
void let_go(void* kept) noexcept;

/// Bytes from `pointer` on that may hold something: what lies behind them, to the end of what was
/// allocated, is zero. For who allocated it, at or soon after its beginning, and did not write yet
/// behind `pointer`; the answer to a second question is that all may. All of other memory as well.
std::size_t dirty_bytes(void const* pointer) noexcept;

/// A block and who has it.
struct Extent {
  char* begin;
  std::size_t asked, bytes;  ///< by its user; of the block
  bool is_mapped;            ///< its pages are of a mapping of ours, not the driver's
  int numa_node;             ///< it is bound to; -1: to none
  std::string space;         ///< its name
};

/// The block around an address; nothing for slots of a slab, and for memory of others.
std::optional<Extent> extent_of(void const* pointer);

/// Locks pages in the background, in chunks of `largest_block`: the largest allocation to be served
/// from them. \throw Error in the child of a fork, and when the process ends.
pool::Reservation reserve(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked,
                          int numa_node = -1, std::size_t largest_block = std::size_t(1) << 30);

/// Waits until retired memory is ready, as long as an allocation would, then gives back all that is
/// not in use, and the events. For the end.
void release_all() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Pool

#endif
