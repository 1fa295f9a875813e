// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_MACHINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_MACHINE_HPP

#include <string>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Names and values; a value is empty if the machine does not tell it.
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string host_name();

/// Kernel, CPU, whether it is that of a virtual machine, its frequency governor, NUMA nodes.
/// \param root prefix of all paths, for tests
Facts host_facts(std::string const& root = "");

/// The current and the best link of a PCI device, and its NUMA node.
Facts link_facts(std::string const& pci_bus_id, std::string const& root = "");

/// Clocks (MHz), error correction and power limit (W) of a GPU, by nvidia-smi: a program linked to the
/// driver's library would not start without one.
Facts gpu_facts(std::string const& pci_bus_id, std::string const& nvidia_smi = "nvidia-smi");

/// The commit that this program was built from, if git knew it.
char const* commit();

/// Type and flags of the build, and whether they optimise.
Facts build_facts();

/// Versions of library, Kokkos, CUDA and compiler, a line each.
char const* version_text();

}  // namespace KokkosHostSpaces::Perf

#endif
