// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_MEMORY_KIND_HPP
#define KOKKOS_HOST_SPACES_BACKEND_MEMORY_KIND_HPP

#include <cstddef>

namespace KokkosHostSpaces {

/// Tells how processors cache the memory. Each kind has pools of its own. All that depends on it is a switch
/// without a default, or a table of Impl::memory_kinds entries: warnings as errors, another kind does
/// not compile where it is not decided.
enum class MemoryKind {
  page_locked,    ///< cached as usual
  write_combined  ///< not cached: fast to write, very slow to read
};

namespace Impl {

/// True for a kind above, false for any other value. A switch without a default: the compiler warns of a
/// kind that is forgotten.
constexpr bool is_memory_kind(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::page_locked:
    case MemoryKind::write_combined: return true;
  }
  return false;
}

/// The number of kinds, which are numbered from 0.
inline constexpr std::size_t memory_kinds = [] {
  std::size_t kinds = 0;
  while (is_memory_kind(MemoryKind(kinds))) ++kinds;
  return kinds;
}();

}  // namespace Impl

}  // namespace KokkosHostSpaces

#endif
