// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_CUB_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_VECTOR_CUB_HPP

#include "VectorBaseline.hpp"

#include <functional>

namespace KokkosHostSpaces::Perf {

/// Returns a function that enqueues one run by CUB (DeviceReduce, DeviceTransform).
/// \return nullptr if CUB cannot (before CUDA 12.8)
template <class T>
std::function<void(VectorArguments<T> const&)> make_cub_kernels(VectorOperation op,
                                                                std::size_t elements,
                                                                Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
