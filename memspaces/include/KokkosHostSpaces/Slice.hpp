// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_SLICE_HPP
#define KOKKOS_HOST_SPACES_SLICE_HPP

#include <cstddef>

namespace KokkosHostSpaces {

/// A range of elements that deep_copy_all copies between two Views of one dimension.
struct Slice {
  std::size_t dst;    ///< index of the first element that is written
  std::size_t src;    ///< index of the first element that is read
  std::size_t count;  ///< number of elements, may be 0
};

}  // namespace KokkosHostSpaces

#endif
