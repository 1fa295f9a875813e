// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The caching pool under the memory spaces, one for each memory kind and NUMA node. Memory is in use;
// after deallocate it is retired, until all device work submitted before is done; then it is ready
// for any request. All functions are thread-safe. In the child of a fork, allocate and reserve throw
// and the others do nothing.
//
// With KOKKOS_HOST_SPACES_POOL=off, an allocation first gives all ready memory back to the system if
// the devices are idle. A deallocation cannot do that, because giving back waits for kernels.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_POOL_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_POOL_HPP

#include "../Driver.hpp"
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
  int numa_node     = -1;                       ///< of the memory; -1: any
  char const* space = "";  ///< name of the memory space; a string that is never freed
  char const* label = "";  ///< label of the View; the first 47 bytes are kept, in whole characters
};

/// A stream of a device.
struct Stream {
  Driver::Stream handle;
  int device;
};

/// Returns memory aligned to 256 bytes, ready for the host and for new device work; nullptr for
/// zero bytes. Makes no context: while no device has one, memory is page-locked later (lock_waiting).
/// Waits for device work in two cases only:
/// - the limit or the system refuses more memory: at most KOKKOS_HOST_SPACES_SHORTAGE_TIMEOUT
///   seconds;
/// - the pool holds much more than the largest need so far, and first gives back ready memory that is
///   too small: at most a second, and not again while work that lasted longer still runs.
/// \throw OutOfPinnedMemory with label, space, bytes, bytes in use, limit and what to do.
/// \throw Error in the child of a fork, unless there is no device: it has pools of its own then.
void* allocate(Request const& request);

/// Page-locks the memory that was allocated before a device had a context. Also done by the next
/// allocation; call it before kernels use that memory. Waits for another thread that does it, or that
/// gives memory back.
void lock_waiting() noexcept;

/// Deallocates memory of allocate. Device work submitted before the call may still use it. Calls
/// neither the driver nor the system; takes no lock, except a short one for memory of keep. Ignores
/// nullptr.
void deallocate(void* pointer) noexcept;

/// The same for memory that only work of one stream uses, submitted before the call: it waits for no
/// other work, except if a graph keeps it, the stream captures, or the driver refuses an event. Calls
/// the driver. The stream may be destroyed afterwards.
void deallocate_on(Stream const& stream, void* pointer) noexcept;

/// A block that is kept in use: [begin, end).
struct Kept {
  void* handle      = nullptr;  ///< for let_go; nullptr: none is kept
  char const* begin = nullptr;
  char const* end   = nullptr;
};

/// Keeps the block that contains an address in use, also after deallocate, until its handle is passed
/// to let_go; none if it is not in use or not of the pool.
/// \throw std::bad_alloc
Kept keep(void const* pointer);

/// Ends keep. Calls neither the driver nor the system, so that CUDA may call it.
void let_go(void* handle) noexcept;

/// Returns the number of bytes from `pointer` on that may be non-zero; the rest of the block is
/// zero. Call it right after the allocation, before anything behind `pointer` is written. Only the
/// first call is meaningful; later calls, and those for memory of others, report everything dirty.
std::size_t dirty_bytes(void const* pointer) noexcept;

/// A block and its user.
struct Extent {
  char* begin;
  std::size_t asked, bytes;  ///< of the request; of the block
  bool is_mapped;            ///< false: memory of cudaHostAlloc
  int numa_node;             ///< that the block is bound to; -1: none
  std::string space;         ///< of the request
};

/// Returns the block that contains an address; nullopt for slots of a slab and for other memory.
std::optional<Extent> extent_of(void const* pointer);

/// Counts memory toward the limit that this process has page-locked without the pool. Gives ready memory
/// back if the limit demands it, which waits for running kernels.
/// \throw OutOfPinnedMemory with label, bytes, limit and what to do; Error in the child of a fork
void count_apart(std::size_t bytes, char const* label);

/// Ends count_apart.
void end_apart(std::size_t bytes) noexcept;

/// Locks pages in the background. \param largest_block bytes of the largest allocation that the memory
/// must serve: it is locked in chunks of this size.
/// \throw Error in the child of a fork as allocate, and when the process ends.
pool::Reservation reserve(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked,
                          int numa_node = -1, std::size_t largest_block = std::size_t(1) << 30);

/// Waits until retired memory is ready, at most KOKKOS_HOST_SPACES_SHORTAGE_TIMEOUT seconds, then
/// gives back the events and all memory that is not in use. Call it at the end.
void release_all() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Pool

#endif
