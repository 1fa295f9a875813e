// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_TOUCHED_PAGES_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_TOUCHED_PAGES_HPP

#include <cstddef>

namespace KokkosHostSpaces::Perf {

/// `bytes` in whole pages.
std::size_t whole_pages(std::size_t bytes);

/// Whole pages from mmap, huge ones where the system has them, touched by several threads.
void* map_touched_pages(std::size_t bytes);
void unmap_pages(void* pointer, std::size_t bytes) noexcept;

}  // namespace KokkosHostSpaces::Perf

#endif
