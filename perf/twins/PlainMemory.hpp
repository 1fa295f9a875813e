// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_PLAIN_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_PLAIN_MEMORY_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// One way in which a plain program gets memory for data that it copies to a device: page-locked,
/// or, without a device, memory whose pages are all there.
struct PlainMemory {
  std::string name;
  std::string why_not;  ///< the reason why this machine has no such memory; empty if it has
  bool caches;          ///< keeps freed memory for the next user, and frees without waiting
  void* (*allocate)(std::size_t bytes);
  void (*free)(void* pointer, std::size_t bytes) noexcept;
};

/// All ways that there are; the first is what most programs use.
std::vector<PlainMemory> const& plain_memories();

/// Gives back to the system what the caching ways keep.
void trim_plain_memories();

}  // namespace KokkosHostSpaces::Perf

#endif
