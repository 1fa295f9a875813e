// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies between pageable memory and memory that kernels reach, which no few calls of the copy
// engine can make: box by box through the same staging memory, so that a copy of a large View does
// not page-lock as much again. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_STAGED_BOXES_HPP
#define KOKKOS_HOST_SPACES_IMPL_STAGED_BOXES_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The side of a copy that CUDA cannot reach.
struct PageableSide {
  std::size_t element_bytes = 0;
  int rank                  = 0;
  std::array<std::size_t, 8> extent{}, stride{};  ///< in elements
  bool is_source = false;
};

/// A part of a View in each dimension, and how it lies in staging memory.
struct StagedBox {
  std::array<std::size_t, 8> first{}, extent{};  ///< of the View
  std::array<std::size_t, 8> stride{};           ///< in staging memory, in elements
  std::size_t bytes = 0;                         ///< of staging memory
  CopyPlan plan;                                 ///< between it and the pageable side
};

/// Cuts the side into boxes of at most so many bytes of staging memory, or of one element. In that
/// the elements have the order of the side, without gaps; but with them where memcpys would be many,
/// and one of all is not much longer, as of a broadcast source, whose strides are zero.
std::vector<StagedBox> cut_for_staging(PageableSide const& side, std::size_t most_bytes);

}  // namespace KokkosHostSpaces::Impl

#endif
