// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Strides of arrays without gaps, in any order of dimensions.

#ifndef KOKKOS_HOST_SPACES_TESTS_MEMSPACES_DENSE_STRIDES_HPP
#define KOKKOS_HOST_SPACES_TESTS_MEMSPACES_DENSE_STRIDES_HPP

#include <cstddef>
#include <vector>

/// In elements; dimensions in the given order, the first one the fastest.
inline std::vector<std::size_t> dense_strides(std::vector<std::size_t> const& extents,
                                              std::vector<std::size_t> const& order) {
  std::vector<std::size_t> result(extents.size());
  std::size_t next = 1;
  for (std::size_t const r : order) {
    result[r] = next;
    next *= extents[r];
  }
  return result;
}

#endif
