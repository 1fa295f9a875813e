// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_MEMORY_KIND_HPP
#define KOKKOS_HOST_SPACES_BACKEND_MEMORY_KIND_HPP

namespace KokkosHostSpaces {

/// How processors cache the memory. Each kind has pools of its own.
enum class MemoryKind {
  page_locked,    ///< cached as usual
  write_combined  ///< not cached: fast to write, very slow to read
};

}  // namespace KokkosHostSpaces

#endif
