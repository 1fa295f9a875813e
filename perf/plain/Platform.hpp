// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_PLATFORM_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_PLATFORM_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Whether the baselines were compiled for CUDA.
extern bool const baselines_use_cuda;

/// Why no device can be used, in the words of the CUDA runtime; empty if one can, or none is needed.
std::string why_no_device();

struct Device {
  std::string name;
  std::string pci_bus_id;          ///< as sysfs writes it, such as "0000:17:00.0"
  std::string compute_capability;  ///< such as "9.0"
  std::size_t memory_bytes = 0;
};

/// All devices that this process sees, in CUDA's order; none without CUDA or a driver. Creates no context.
std::vector<Device> list_devices();

/// Makes a device current in the calling thread and creates its context, so that later timings do not
/// include it. Does nothing without CUDA.
void use_device(int device);

/// The current device; -1 and 0 bytes without CUDA.
int current_device();
std::size_t free_device_memory();

/// The versions of CUDA that the driver supports and of the runtime; empty without CUDA.
std::string cuda_driver_version();
std::string cuda_runtime_version();

/// Whether the CUDA runtime knows the address as page-locked; true without a device.
bool is_page_locked(void const* pointer);

}  // namespace KokkosHostSpaces::Perf

#endif
