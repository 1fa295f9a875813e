// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_PAGE_LOCK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_PAGE_LOCK_HPP

#include "Config.hpp"
#include "Driver.hpp"
#include "Region.hpp"

#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

/// Page-locks fresh memory: map, bind to `numa_node` (-1: anywhere), first touch by several threads
/// of that node, keep from children of a fork, register. Rounds `bytes` up to whole pages.
/// Undoes its steps in reverse when one fails. Blocks the calling thread, waits for no device;
/// thread-safe.
/// \throw OutOfPinnedMemory if the system refuses; the message names bytes and reason, the pool
/// adds the rest. \throw CudaError if the runtime fails for another reason; Driver::StillLocked if
/// as many bytes are lost to the process, because the runtime failed to lock and to unlock them.
Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node);
Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node, Config const& config);

/// Gives a region back to the system. Waits for running kernels. Returns false if the runtime refused,
/// also because it has shut down: the memory then stays locked and mapped until the process ends. In
/// the child of a fork it does nothing and returns true.
bool give_back(Region const& region) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
