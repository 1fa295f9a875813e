// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the operating system must give: pages of memory.

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_PAGES_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_PAGES_HPP

#include "Team.hpp"

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

inline constexpr std::size_t huge_page_bytes = std::size_t(2) << 20;

/// The CUDA runtime cannot page-lock or copy any number of bytes at once, and takes pieces that end
/// at multiples of this address.
inline constexpr std::size_t page_window = std::size_t(64) << 30;

std::size_t page_bytes() noexcept;

/// `bytes` in whole pages, at least one; in huge ones where that adds at most a sixteenth. Saturates.
std::size_t whole_pages(std::size_t bytes) noexcept;

/// More than this a machine cannot have: the limit of this process' control groups, or 32 times the
/// memory that the system knows of now, since virtual machines get memory as they use it. Where the
/// system overcommits, asking for more would not fail but end the process.
std::size_t most_memory() noexcept;

/// Addresses for so many whole pages, of which none can be used yet: multiples of 2 MiB from 2 MiB
/// on. If the system lets us, as many as a window has, or fewer, lie in one, and more begin at one.
/// nullptr if the system refuses.
void* reserve_for_pages(std::size_t bytes) noexcept;

/// Anonymous private pages at such addresses, readable and writable, not yet touched.
void* map_pages(std::size_t bytes) noexcept;

/// Gives the memory back, if not the addresses.
void unmap_pages(void* pointer, std::size_t bytes) noexcept;

/// Asks for transparent huge pages; false if the system has none.
bool use_huge_pages(void* pointer, std::size_t bytes) noexcept;

/// Leaves the pages out of children made by fork, which would else copy them all at once if they
/// are page-locked; or takes them in again. The range must be whole pages. False if the system
/// refuses.
bool keep_from_children(void* pointer, std::size_t bytes) noexcept;
bool leave_to_children(void* pointer, std::size_t bytes) noexcept;

/// Faults all pages in by the threads of a team. Contents stay zero.
void first_touch(void* pointer, std::size_t bytes, Team const& team);

/// RLIMIT_MEMLOCK of this process in words: "unlimited" or bytes.
std::string locked_memory_limit();

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
