// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// KOKKOS_HOST_SPACES_GUARD=on: the race guard watches copies on instances against host accesses.

#ifndef KOKKOS_HOST_SPACES_IMPL_GUARDED_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_GUARDED_COPIES_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl {

/// One side of a copy.
struct CopySide {
  void const* begin;
  std::size_t bytes;  ///< 0: the side has gaps and is not watched
  std::string label;
};

/// Returns true if the guard is on.
bool guards_copies();

/// Watches a copy enqueued on `stream` (a cudaStream_t) until it is done: host code that touches
/// `dst` or writes into `src` is reported on stderr.
void guard_copy(CopySide const& dst, CopySide const& src, void* stream);

/// Number of races reported so far.
std::size_t races_found() noexcept;

}  // namespace KokkosHostSpaces::Impl

#endif
