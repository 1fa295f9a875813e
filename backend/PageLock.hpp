// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_PAGE_LOCK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_PAGE_LOCK_HPP

#include "Config.hpp"
#include "Driver.hpp"
#include "Region.hpp"

#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// Page-locks fresh memory: map, bind to `numa_node` (-1: anywhere), first touch by several threads
/// of that node, register. Rounds `bytes` up to whole pages (2 MiB from 2 MiB on). Undoes its steps
/// in reverse when one fails. Blocks the calling thread, waits for no device; thread-safe. \throw
/// OutOfPinnedMemory if the system refuses; the message names bytes and reason, the pool adds the
/// rest. \throw CudaError if the runtime fails for another reason.
Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node);
Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node, Config const& config);

/// Gives a region back to the system. Waits for running kernels. After the runtime has shut down,
/// or in the child of a fork, leaves the memory to the end of the process.
void give_back(Region const& region) noexcept;

/// Driver::lock_pages in pieces that end at multiples of `chunk` (a power of two): all of them, or
/// none if it throws.
void lock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk = Driver::largest_chunk);

/// Undoes lock_in_chunks with the same arguments; false if the runtime refused any chunk.
bool unlock_in_chunks(void* pointer, std::size_t bytes,
                      std::size_t chunk = Driver::largest_chunk) noexcept;

}  // namespace KokkosHostSpaces::Impl

#endif
