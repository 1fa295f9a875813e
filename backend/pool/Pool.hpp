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

/// A request. `space` and `label` appear in messages and statistics.
struct Request {
  std::size_t bytes;                            ///< wanted
  MemoryKind kind   = MemoryKind::page_locked;  ///< which pool
  int numa_node     = -1;                       ///< where it shall lie; -1: anywhere
  char const* space = "";  ///< name of the memory space; a string that lives for ever
  char const* label = "";  ///< label of the View; the first 47 characters are kept
};

/// Returns memory aligned to 256 bytes, ready for the host and for new device work; nullptr for
/// zero bytes. Waits for device work in two cases only:
/// - the limit or the system refuses more memory: at most KOKKOS_HOST_SPACES_SHORTAGE_TIMEOUT
///   seconds;
/// - the pool would hold much more than the largest need so far, and first gives back ready memory
///   that is too small: at most a second, and never again for work that lasts longer.
/// \throw OutOfPinnedMemory with label, space, bytes, bytes in use, limit and what to do.
/// \throw Error in the child of a fork.
void* allocate(Request const& request);

/// Takes back memory of allocate. Device work submitted before the call may still use it. Calls
/// neither the driver nor the system; takes no lock, or a short one if the memory is kept. Ignores
/// nullptr.
void deallocate(void* pointer) noexcept;

/// Keeps the block around an address in use, also after deallocate, until the returned handle is
/// passed to let_go. Returns nullptr if the block is not in use or not of the pool.
/// \throw std::bad_alloc
void* keep(void const* pointer);

/// Ends keep. Calls neither the driver nor the system, so that CUDA may call it.
void let_go(void* kept) noexcept;

/// Returns the number of bytes from `pointer` on that may be non-zero; the rest of the block is
/// zero. Call it right after the allocation, before anything behind `pointer` is written. Only the
/// first call is meaningful; later calls, and those for memory of others, report everything dirty.
std::size_t dirty_bytes(void const* pointer) noexcept;

/// A block and its user.
struct Extent {
  char* begin;
  std::size_t asked, bytes;  ///< by its user; of the block
  bool is_mapped;            ///< its pages are of a mapping of ours, not the driver's
  int numa_node;             ///< it is bound to; -1: to none
  std::string space;         ///< its name
};

/// Returns the block around an address; nothing for slots of a slab and for memory of others.
std::optional<Extent> extent_of(void const* pointer);

/// Locks pages in the background, in chunks of `largest_block` bytes, the largest allocation that
/// they must serve.
/// \throw Error in the child of a fork, and when the process ends.
pool::Reservation reserve(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked,
                          int numa_node = -1, std::size_t largest_block = std::size_t(1) << 30);

/// Waits until retired memory is ready, at most KOKKOS_HOST_SPACES_SHORTAGE_TIMEOUT seconds, then
/// gives back the events and all memory that is not in use. Call it at the end.
void release_all() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Pool

#endif
