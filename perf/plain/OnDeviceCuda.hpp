// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_ON_DEVICE_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_ON_DEVICE_CUDA_HPP

#include "CheckCuda.hpp"

namespace KokkosHostSpaces::Perf {

/// Makes a device current, and restores the former one at the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&m_before), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~OnDevice() { (void)cudaSetDevice(m_before); }
  OnDevice(OnDevice const&)            = delete;
  OnDevice& operator=(OnDevice const&) = delete;

 private:
  int m_before = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
