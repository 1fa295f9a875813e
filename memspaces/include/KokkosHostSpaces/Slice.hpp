// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_SLICE_HPP
#define KOKKOS_HOST_SPACES_SLICE_HPP

#include <cstddef>

namespace KokkosHostSpaces {

/// Elements that deep_copy_all copies from one View to another, both of one dimension: those from
/// `src` on of the one to those from `dst` on of the other.
struct Slice {
  std::size_t dst;    ///< index of the first element that is written
  std::size_t src;    ///< index of the first element that is read
  std::size_t count;  ///< number of elements, may be 0
};

}  // namespace KokkosHostSpaces

#endif
