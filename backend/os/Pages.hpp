// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the operating system must give: pages of memory, and what it says about an address.

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_PAGES_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_PAGES_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl {

inline constexpr std::size_t huge_page_bytes = std::size_t(2) << 20;

std::size_t page_bytes() noexcept;

/// More than this a machine cannot have: the limit of this process' cgroup, or 32 times the memory
/// that the system knows of now, since virtual machines get memory as they use it. Where the system
/// overcommits, asking for more would not fail but end the process.
std::size_t most_memory() noexcept;

/// Anonymous private pages, readable and writable, not yet touched; `bytes` is a multiple of the
/// page size. From 2 MiB on the address is a multiple of 2 MiB. nullptr if the system refuses.
void* map_pages(std::size_t bytes) noexcept;
void unmap_pages(void* pointer, std::size_t bytes) noexcept;

/// Asks for transparent huge pages; false if the system has none.
bool use_huge_pages(void* pointer, std::size_t bytes) noexcept;

/// Faults all pages in from `threads` threads, which bind themselves to `numa_node` (-1: any of the
/// cores allowed to this process, not just those of the calling thread). One thread is the caller's
/// own, and is not bound. Contents stay zero.
void first_touch(void* pointer, std::size_t bytes, int numa_node, int threads);

/// What the system says about a range.
enum class RangeState { writable, read_only, not_mapped };
RangeState inspect_range(void const* pointer, std::size_t bytes);

/// RLIMIT_MEMLOCK of this process in words: "unlimited" or bytes.
std::string locked_memory_limit();

}  // namespace KokkosHostSpaces::Impl

#endif
