// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_MACHINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_MACHINE_HPP

#include <string>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Names and values, which are empty where the machine does not tell.
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string host_name();

/// Kernel, CPU, what sets its clock, NUMA nodes. For this machine `root` is empty.
Facts host_facts(std::string const& root = "");

/// The link of a PCI device now and at its best, and its NUMA node.
Facts link_facts(std::string const& pci_bus_id, std::string const& root = "");

/// Clocks (MHz), error correction and power limit (W) of a GPU as nvidia-smi tells them: linking to
/// the driver's library would keep the program from starting where there is none.
Facts gpu_facts(std::string const& pci_bus_id, std::string const& nvidia_smi = "nvidia-smi");

}  // namespace KokkosHostSpaces::Perf

#endif
