// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_HPP

#include "../../twins/VectorTwin.hpp"

#include <Kokkos_Core.hpp>

namespace KokkosHostSpaces::Perf {

/// How the kernels are launched.
enum class Launch {
  range_policy,       ///< a parallel_for over a RangePolicy each, as stock Kokkos
  element_wise,       ///< element_wise or element_sum each
  element_wise_graph  ///< the same as nodes of one Kokkos graph
};

/// The sequence as kernels on `instance`, with Views of `Space`. Defined for the spaces that are
/// instantiated in the source files beside this one.
template <class Space, class T>
std::unique_ptr<VectorSequence> make_kokkos_vector(VectorOperation op,
                                                   std::vector<VectorArguments<T>> const& runs,
                                                   std::size_t elements, Launch launch,
                                                   Kokkos::DefaultExecutionSpace const& instance);

}  // namespace KokkosHostSpaces::Perf

#endif
