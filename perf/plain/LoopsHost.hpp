// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_LOOPS_HOST_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_LOOPS_HOST_HPP

#include <cstddef>

namespace KokkosHostSpaces::Perf {

/// Calls body(i) for each i, by OpenMP if Kokkos uses it.
template <class Body>
void for_each_index(std::size_t n, Body body) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (std::size_t i = 0; i < n; ++i) body(i);
}

}  // namespace KokkosHostSpaces::Perf

#endif
