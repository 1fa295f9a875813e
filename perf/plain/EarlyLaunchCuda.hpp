// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Programmatic dependent launch: a kernel starts before earlier work of its stream is done, and waits
// for that work itself.

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_EARLY_LAUNCH_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_EARLY_LAUNCH_CUDA_HPP

#include "CheckCuda.hpp"

#include <cuda_runtime.h>

namespace KokkosHostSpaces::Perf {

/// Waits for earlier work of the stream. A kernel that may start early calls it first.
inline __device__ void wait_for_earlier_work() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

inline bool can_start_early() {
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cudaDeviceGetAttribute");
  return major >= 9;
}

template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                   cudaStream_t stream, bool early, Arguments const&... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id                  = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config                            = {};
  config.gridDim                                       = dim3(blocks);
  config.blockDim                                      = dim3(threads);
  config.stream                                        = stream;
  config.attrs                                         = &attribute;
  config.numAttrs                                      = early;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "kernel launch");
}

}  // namespace KokkosHostSpaces::Perf

#endif
