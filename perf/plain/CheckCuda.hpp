// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_CHECK_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_CHECK_CUDA_HPP

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace KokkosHostSpaces::Perf {

inline void check(cudaError_t code, char const* call) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(call) + " failed (" + cudaGetErrorString(code) + ")");
}

}  // namespace KokkosHostSpaces::Perf

#endif
