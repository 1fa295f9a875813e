// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Has what a statically linked CUDA runtime is known by.

extern "C" __attribute__((visibility("default"))) char const* name_of_an_error() {
  return "cudaErrorCudartUnloading";
}
