// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: kernels that start before what they wait for is done.

#include "Runtime.hpp"

namespace KokkosHostSpaces::Impl::Driver {

bool can_start_early(void const* kernel, int device) noexcept {
  constexpr int hopper          = 90;
  cudaFuncAttributes attributes = {};
  return runtime() != nullptr && succeeded(cudaSetDevice(device)) &&
         succeeded(cudaFuncGetAttributes(&attributes, kernel)) && attributes.ptxVersion >= hopper &&
         attributes.binaryVersion >= hopper;
}

bool launch_early(void const* kernel, unsigned blocks, unsigned threads, void* argument,
                  Stream stream, int device) noexcept {
  cudaLaunchAttribute attribute = {};
  attribute.id                  = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config                            = {};
  config.gridDim                                       = dim3(blocks);
  config.blockDim                                      = dim3(threads);
  config.stream                                        = static_cast<cudaStream_t>(stream);
  config.attrs                                         = &attribute;
  config.numAttrs                                      = 1;
  return succeeded(cudaSetDevice(device)) &&
         succeeded(cudaLaunchKernelExC(&config, kernel, &argument));
}

}  // namespace KokkosHostSpaces::Impl::Driver
