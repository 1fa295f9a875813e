// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_PLAIN_BUFFER_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_PLAIN_BUFFER_HPP

#include <cstddef>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// Kinds of memory of a plain program. Without a device all come from malloc.
enum class PlainKind {
  pageable,
  pinned,          ///< page-locked, usable by kernels, too
  write_combined,  ///< the same, write-combined
  device
};

using PlainBuffer = std::unique_ptr<void, void (*)(void*)>;

/// \throw std::exception if there is not enough memory
PlainBuffer make_plain_buffer(PlainKind kind, std::size_t bytes);

}  // namespace KokkosHostSpaces::Perf

#endif
