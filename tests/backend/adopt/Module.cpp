// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A module that brings a CUDA runtime of its own.

#include <cstddef>

#include <cuda_runtime_api.h>

extern "C" __attribute__((visibility("default"))) int module_copy(void* dst, void const* src,
                                                                  std::size_t bytes) {
  return cudaMemcpy(dst, src, bytes, cudaMemcpyDefault);
}
