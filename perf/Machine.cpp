// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Machine.hpp"

#include <Kokkos_Core.hpp>

#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

std::string first_line(std::string const& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string compiler() {
  std::string text;
#if defined(__clang__)
  text = "Clang " __clang_version__;
#elif defined(__GNUC__)
  text = "GCC " __VERSION__;
#endif
#ifdef KOKKOS_COMPILER_NVCC
  text +=
      ", nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__);
#endif
  return text;
}

std::string now() {
  std::time_t const seconds = std::time(nullptr);
  char text[32]             = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
  return text;
}

}  // namespace

Machine describe_machine() {
  Machine machine;
  machine.device = current_device();
  machine.driver = first_line("/sys/module/nvidia/version");
  if (machine.driver.empty()) machine.driver = first_line("/proc/driver/nvidia/version");
  if (!machine.device.pci_bus_id.empty()) {
    std::string const pci  = "/sys/bus/pci/devices/" + machine.device.pci_bus_id + "/";
    machine.link_speed     = first_line(pci + "current_link_speed");
    machine.link_width     = first_line(pci + "current_link_width");
    machine.max_link_speed = first_line(pci + "max_link_speed");
    machine.max_link_width = first_line(pci + "max_link_width");
    machine.numa_node      = first_line(pci + "numa_node");
  }
  machine.huge_pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled");

  std::ostringstream configuration;
  Kokkos::print_configuration(configuration);
  machine.host_name_of_execution_space = Kokkos::DefaultHostExecutionSpace::name();
  machine.host_threads                 = Kokkos::DefaultHostExecutionSpace().concurrency();
  machine.kokkos_version               = std::to_string(KOKKOS_VERSION_MAJOR) + "." +
                           std::to_string(KOKKOS_VERSION_MINOR) + "." +
                           std::to_string(KOKKOS_VERSION_PATCH);
  machine.kokkos_configuration = configuration.str();
  machine.compiler             = compiler();
  machine.commit               = KOKKOS_HOST_SPACES_COMMIT;
  machine.date                 = now();
  return machine;
}

std::size_t available_host_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::size_t kibibytes;
    if (words >> key >> kibibytes && key == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace KokkosHostSpaces::Perf
