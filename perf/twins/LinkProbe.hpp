// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_LINK_PROBE_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_LINK_PROBE_HPP

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct DeviceDescription {
  std::string name;
  std::string pci_bus_id;          ///< as sysfs writes it, such as "0000:17:00.0"
  std::string compute_capability;  ///< such as "9.0"
  std::size_t memory_bytes = 0;
};

/// All devices that this process sees, in CUDA's order; none without CUDA or a driver. Makes no
/// context.
std::vector<DeviceDescription> list_devices();

/// Makes the device current, and its context, so that neither is part of what is timed later.
void wake_device(int device);

/// Bytes per second, the medians of repetitions.
struct LinkRates {
  double to_device = 0, to_host = 0;
  double both           = 0;  ///< the sum of both directions at once
  double zero_copy_read = 0;  ///< by a kernel that adds up the elements in place
  bool verified         = false;
};

/// Copies between the current device and page-locked memory: from the first half of `host` and to
/// its second half. Each of the four rates takes `seconds`, or one repetition if that is longer.
/// `while_busy` is called once while data crosses the link. \throw std::runtime_error
LinkRates measure_link(void* host, std::size_t bytes, double seconds,
                       std::function<void()> const& while_busy);

}  // namespace KokkosHostSpaces::Perf

#endif
