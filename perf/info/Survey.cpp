// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Survey.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace KokkosHostSpaces::Perf {
namespace {

// Empty if there is no such file.
std::string text_of(std::string const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string first_line(std::string const& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string pci_folder(std::string const& pci_bus_id, std::string const& root) {
  return root + "/sys/bus/pci/devices/" + pci_bus_id + "/";
}

Gpu describe(DeviceDescription const& device, Impl::Topology const& topology,
             std::string const& root) {
  std::string const pci = pci_folder(device.pci_bus_id, root);
  Gpu gpu;
  gpu.name               = device.name;
  gpu.pci_bus_id         = device.pci_bus_id;
  gpu.compute_capability = device.compute_capability;
  gpu.memory_bytes       = device.memory_bytes;
  gpu.link               = current_link(device.pci_bus_id, root);
  gpu.max_link = parse_link(first_line(pci + "max_link_speed"), first_line(pci + "max_link_width"));
  gpu.iommu_domain = first_line(pci + "iommu_group/type");
  if (!(std::ifstream(pci + "numa_node") >> gpu.node)) gpu.node = -1;
  gpu.near_node = topology.nearest_node(device.pci_bus_id);
  return gpu;
}

std::optional<std::size_t> smallest_limit(std::string const& root) {
  std::optional<std::size_t> smallest;
  for (std::string const& file : memory_limit_files(text_of(root + "/proc/self/cgroup"))) {
    std::optional<std::size_t> const limit = parse_bytes(first_line(root + file));
    if (limit) smallest = std::min(*limit, smallest.value_or(*limit));
  }
  return smallest;
}

}  // namespace

Link current_link(std::string const& pci_bus_id, std::string const& root) {
  std::string const pci = pci_folder(pci_bus_id, root);
  return parse_link(first_line(pci + "current_link_speed"), first_line(pci + "current_link_width"));
}

Findings survey(std::vector<DeviceDescription> const& devices, Impl::Topology const& topology,
                std::string const& root) {
  Findings findings;
  for (DeviceDescription const& device : devices)
    findings.gpus.push_back(describe(device, topology, root));
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
  findings.container_limit        = smallest_limit(root);
  findings.locked_memory_limit    = locked_memory_limit(text_of(root + "/proc/self/limits"));
  return findings;
}

}  // namespace KokkosHostSpaces::Perf
