// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "MachineReport.hpp"

#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

std::string or_unknown(std::string const& text) { return text.empty() ? "unknown" : text; }

}  // namespace

void write_machine(std::ostream& out, Machine const& machine) {
  out << "Kokkos " << machine.kokkos_version << " beside " << twin_name << ", commit "
      << machine.commit << ", " << machine.date << '\n';
  if (twins_use_cuda) {
    out << machine.device.name << ", PCIe " << or_unknown(machine.link_speed) << " x"
        << or_unknown(machine.link_width) << ", NUMA node " << or_unknown(machine.numa_node)
        << ", driver " << or_unknown(machine.driver) << ", CUDA " << machine.device.cuda_runtime;
  } else {
    out << "No device: everything runs on Kokkos' host execution space "
        << machine.host_name_of_execution_space << " (" << machine.host_threads << " threads)";
  }
  out << ", huge pages " << or_unknown(machine.huge_pages) << '\n';
}

void write_machine(Json& json, Machine const& machine) {
  json.value("backend", twins_use_cuda ? "cuda" : "host");
  json.value("twin", twin_name);
  json.value("gpu", machine.device.name);
  json.value("pci_bus_id", machine.device.pci_bus_id);
  json.value("driver", machine.driver);
  json.value("cuda_driver_api", machine.device.driver_api);
  json.value("cuda_runtime", machine.device.cuda_runtime);
  json.value("link_speed", machine.link_speed);
  json.value("link_width", machine.link_width);
  json.value("max_link_speed", machine.max_link_speed);
  json.value("max_link_width", machine.max_link_width);
  json.value("numa_node", machine.numa_node);
  json.value("transparent_huge_pages", machine.huge_pages);
  json.value("host_execution_space", machine.host_name_of_execution_space);
  json.value("host_threads", machine.host_threads);
  json.value("kokkos_version", machine.kokkos_version);
  json.value("kokkos_configuration", machine.kokkos_configuration);
  json.value("compiler", machine.compiler);
  json.value("commit", machine.commit);
  json.value("date", machine.date);
}

}  // namespace KokkosHostSpaces::Perf
