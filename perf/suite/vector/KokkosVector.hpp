// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_KOKKOS_VECTOR_HPP

#include "../Instance.hpp"
#include "VectorBaseline.hpp"

#include <functional>

namespace KokkosHostSpaces::Perf {

/// Ways to launch the kernels.
enum class Launch {
  range_policy,  ///< Kokkos::parallel_for or parallel_reduce over a RangePolicy
  khs_parallel,  ///< khs::parallel_for or khs::parallel_reduce
  element_wise   ///< element_wise or element_sum
};

/// Runs kernels on Views of `Space`. The sources beside this header instantiate it, one for each space.
template <class Space, class T>
struct KokkosVector {
  using Runs = std::vector<VectorArguments<T>>;

  /// Returns a function that enqueues the runs on `instance`.
  static std::function<void()> make(VectorOperation op, Runs const& runs, std::size_t elements,
                                    Launch launch, Execution const& instance);
};

}  // namespace KokkosHostSpaces::Perf

#endif
