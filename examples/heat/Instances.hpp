// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_INSTANCES_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_INSTANCES_HPP

#include "Field.hpp"

#ifdef KOKKOS_ENABLE_CUDA
#include <memory>
#include <stdexcept>
#include <string>
#endif

namespace Heat {

/// Two execution space instances that work beside each other.
struct Instances {
#ifdef KOKKOS_ENABLE_CUDA
  std::shared_ptr<CUstream_st> stream;  ///< of an instance that does not own its own; ends last
#endif
  Device bulk, halo;
};

inline Instances make_equal_instances() {
  Instances instances;
  auto const parts = Kokkos::Experimental::partition_space(Device(), 1, 1);
  instances.bulk   = parts[0];
  instances.halo   = parts[1];
  return instances;
}

/// Kernels for the halo go first. Among equals, a GPU begins them after all blocks of a kernel for
/// the interior that was enqueued before, and little of the exchange is hidden.
inline Instances make_halo_first_instances() {
  Instances instances = make_equal_instances();
#ifdef KOKKOS_ENABLE_CUDA
  auto const check = [](cudaError_t status) {
    if (status != cudaSuccess)
      throw std::runtime_error(std::string("cannot make a CUDA stream: ") +
                               cudaGetErrorString(status));
  };
  int lowest = 0, highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest));
  instances.stream.reset(stream, cudaStreamDestroy);
  instances.halo = Kokkos::Cuda(stream);
#endif
  return instances;
}

}  // namespace Heat

#endif
