// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_MACHINE_HPP
#define KOKKOS_HOST_SPACES_PERF_MACHINE_HPP

#include "twins/Platform.hpp"

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Perf {

/// Where and with what the figures were measured. Strings are empty where the system does not tell.
struct Machine {
  Device device;
  std::string driver;  ///< version of the kernel module
  std::string
      link_speed;  ///< of the PCIe link now, such as "32.0 GT/s PCIe"; an idle link may be slower
  std::string link_width;  ///< lanes
  std::string max_link_speed;
  std::string max_link_width;
  std::string numa_node;   ///< of the device
  std::string huge_pages;  ///< the transparent huge page setting, such as "always [madvise] never"
  std::string host_name_of_execution_space;  ///< Kokkos' default host execution space
  int host_threads;
  std::string kokkos_version;
  std::string kokkos_configuration;
  std::string compiler;
  std::string commit;
  std::string date;  ///< UTC
};

/// Kokkos must be initialised. Ask after measuring, when the link is awake.
Machine describe_machine();

/// Bytes that the system can give without swapping.
std::size_t available_host_memory();

}  // namespace KokkosHostSpaces::Perf

#endif
