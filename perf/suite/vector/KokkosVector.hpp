// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_HPP

#include "../Instance.hpp"
#include "VectorBaseline.hpp"

#include <functional>

namespace KokkosHostSpaces::Perf {

/// How the kernels are launched.
enum class Launch {
  range_policy,       ///< a parallel_for over a RangePolicy each, as stock Kokkos
  vector_policy,      ///< the same over a VectorPolicy
  element_wise,       ///< element_wise or element_sum each
  element_wise_graph  ///< the same as nodes of one Kokkos graph
};

/// The runs as kernels on Views of `Space`. Defined for the spaces that are instantiated in the
/// source files beside this one.
template <class Space>
struct KokkosVector {
  template <class T>
  using Runs = std::vector<VectorArguments<T>>;

  /// A function that enqueues them on `instance`.
  static std::function<void()> make(VectorOperation op, Runs<float> const& runs,
                                    std::size_t elements, Launch launch, Execution const& instance);
  static std::function<void()> make(VectorOperation op, Runs<double> const& runs,
                                    std::size_t elements, Launch launch, Execution const& instance);
};

}  // namespace KokkosHostSpaces::Perf

#endif
