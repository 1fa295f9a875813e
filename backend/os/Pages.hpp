// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Everything that the library needs of the virtual memory of the operating system.

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_PAGES_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_PAGES_HPP

#include "Team.hpp"

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

inline constexpr std::size_t huge_page_bytes = std::size_t(2) << 20;

/// The CUDA runtime page-locks and copies memory in pieces that end at multiples of this address.
inline constexpr std::size_t page_window = std::size_t(64) << 30;

std::size_t page_bytes() noexcept;

/// Bytes of memory that the machine has; SIZE_MAX if that is unknown.
std::size_t physical_memory() noexcept;

/// Rounds up to whole pages, at least one; whole_huge_pages to huge pages where that adds at most 1/16.
/// Both saturate.
std::size_t whole_pages(std::size_t bytes) noexcept;
std::size_t whole_huge_pages(std::size_t bytes) noexcept;

/// An upper bound of this machine's memory in bytes, as of now: the limit of the control groups, at
/// most 32 times the memory that the system knows of (virtual machines may grow). A larger request
/// would not fail where the system overcommits, but end the process when its pages are touched.
/// \param root a prefix of the names of the control groups' files
std::size_t most_memory(std::string const& root = "") noexcept;

/// True if `bytes` exceed most_memory(), which is read anew (0.3 ms) only for requests larger than the
/// last value.
bool exceeds_memory(std::size_t bytes) noexcept;

/// Reserves addresses for whole pages without memory; aligned to 2 MiB from 2 MiB on. Within one
/// page_window if they fit, else at the beginning of one, as far as the system allows.
/// Returns nullptr if the system refuses.
void* reserve_for_pages(std::size_t bytes) noexcept;

/// Maps anonymous private pages at such addresses, readable and writable, not yet touched.
void* map_pages(std::size_t bytes) noexcept;

/// Frees the memory, and the addresses unless the system refuses.
void unmap_pages(void* pointer, std::size_t bytes) noexcept;

/// Asks for transparent huge pages; false if the system has none.
bool use_huge_pages(void* pointer, std::size_t bytes) noexcept;

/// Excludes whole pages from forked children, for which a fork would else copy page-locked memory at
/// once; or includes them again. False if the system refuses.
bool keep_from_children(void* pointer, std::size_t bytes) noexcept;
bool leave_to_children(void* pointer, std::size_t bytes) noexcept;

/// Faults in all pages with the threads of a team. Contents stay zero.
void first_touch(void* pointer, std::size_t bytes, Team const& team);

/// RLIMIT_MEMLOCK of this process in words: "unlimited" or bytes.
std::string locked_memory_limit();

/// Names what helps where memory is refused: "raise ulimit -v" if the process has a limit of addresses; "raise
/// ulimit -l" if it has one of locked memory; else "". Both limits are those of the system.
std::string raise_limit_of_addresses();
std::string raise_limit_of_locked();

/// The same for `bytes` that exceeds_memory(); and why they do.
std::string raise_limit_of_groups(std::size_t bytes);
std::string more_than_can_be(std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
