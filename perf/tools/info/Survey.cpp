// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../../backend/os/MemoryLimit.hpp"

#include <fstream>

namespace KokkosHostSpaces::Perf {
namespace {

Gpu describe(Device const& device, Impl::Backend::Topology const& topology,
             std::string const& root) {
  std::string const pci = root + "/sys/bus/pci/devices/" + device.pci_bus_id + "/";
  Gpu gpu;
  gpu.name               = device.name;
  gpu.pci_bus_id         = device.pci_bus_id;
  gpu.compute_capability = device.compute_capability;
  gpu.memory_bytes       = device.memory_bytes;
  gpu.link               = current_link(device.pci_bus_id, root);
  gpu.max_link           = max_link(device.pci_bus_id, root);
  gpu.iommu_domain       = first_line(pci + "iommu_group/type");
  if (!(std::ifstream(pci + "numa_node") >> gpu.node)) gpu.node = -1;
  gpu.near_node = topology.nearest_node(device.pci_bus_id);
  return gpu;
}

std::optional<std::size_t> container_limit(std::string const& root) {
  std::size_t const limit = Impl::Backend::memory_of_cgroups(root).limit;
  return limit != SIZE_MAX ? std::optional(limit) : std::nullopt;
}

}  // namespace

Findings survey(std::vector<Device> const& devices, Impl::Backend::Topology const& topology,
                std::string const& root) {
  Findings findings;
  for (Device const& device : devices) findings.gpus.push_back(describe(device, topology, root));
  for (int const node : topology.allowed_nodes())
    findings.nodes.push_back({node, topology.allowed_cores(node)});
  findings.driver = first_line(root + "/sys/module/nvidia/version");

  std::string const huge_pages = root + "/sys/kernel/mm/transparent_hugepage/";
  findings.huge_pages          = selected_mode(first_line(huge_pages + "enabled"));
  findings.huge_pages_defrag   = selected_mode(first_line(huge_pages + "defrag"));
  findings.huge_pages_shmem    = selected_mode(first_line(huge_pages + "shmem_enabled"));

  findings.cores_online = count_of_list(first_line(root + "/sys/devices/system/cpu/online"));
  findings.cores_allowed =
      count_of_list(status_entry(text_of(root + "/proc/self/status"), "Cpus_allowed_list"));

  std::string const meminfo       = text_of(root + "/proc/meminfo");
  findings.memory_bytes           = meminfo_entry(meminfo, "MemTotal").value_or(0);
  findings.memory_available_bytes = meminfo_entry(meminfo, "MemAvailable").value_or(0);
  findings.container_limit        = container_limit(root);
  findings.locked_memory_limit    = locked_memory_limit(text_of(root + "/proc/self/limits"));
  return findings;
}

}  // namespace KokkosHostSpaces::Perf
