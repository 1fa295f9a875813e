// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_REGION_HPP
#define KOKKOS_HOST_SPACES_BACKEND_REGION_HPP

#include "MemoryKind.hpp"

#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

/// How a region was made, which decides how it is given back.
enum class Origin {
  mapped_and_registered,  ///< mmap, then Driver::lock_pages
  mapped,                 ///< mmap alone: there is no device to lock for
  driver                  ///< Driver::allocate_pinned
};

/// A range of page-locked memory, which is given back as a whole.
struct Region {
  void* pointer     = nullptr;                  ///< where it begins
  std::size_t bytes = 0;                        ///< whole pages
  Origin origin     = Origin::mapped;           ///< how it is given back
  MemoryKind kind   = MemoryKind::page_locked;  ///< of its pages
  std::size_t lead  = 0;      ///< bytes of the driver's allocation before `pointer`
  int numa_node     = -1;     ///< OS index of the node it is bound to, -1 if it is not bound
  bool huge_pages   = false;  ///< transparent huge pages were asked for

  /// True for mmap; CUDA does not promise that its memory is zero.
  bool comes_as_zeros() const noexcept { return origin != Origin::driver; }
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
