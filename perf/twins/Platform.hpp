// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_PLATFORM_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_PLATFORM_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// What the twins were compiled for.
extern bool const twins_use_cuda;

/// The twin of a kernel, in words for headings.
extern char const* const twin_name;

/// Why there is no device, in the words of the CUDA runtime; empty if there is one, or none is
/// needed.
std::string why_no_device();

/// The current device; empty and zero without CUDA.
struct Device {
  std::string name;
  std::string pci_bus_id;  ///< as sysfs writes it, such as "0000:17:00.0"
  std::string driver_api;  ///< the CUDA version that the driver supports
  std::string cuda_runtime;
  std::size_t free_bytes = 0;
  int id                 = -1;
};
Device current_device();

/// Of all devices that this process sees, as Device::pci_bus_id.
std::vector<std::string> device_bus_ids();
/// Makes a device current in the calling thread. Does nothing without CUDA.
void use_device(int id);

/// Can other processes use the current device at the same time? Always true without CUDA.
bool device_can_be_shared();

/// Does the CUDA runtime know the address as page-locked? Always true without a device.
bool is_page_locked(void const* pointer);

}  // namespace KokkosHostSpaces::Perf

#endif
