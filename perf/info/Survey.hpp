// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_INFO_SURVEY_HPP
#define KOKKOS_HOST_SPACES_PERF_INFO_SURVEY_HPP

#include "Findings.hpp"

#include "../../backend/os/Topology.hpp"
#include "../twins/LinkProbe.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// All that can be found without measuring. Files of the system are read below `root`; for this
/// machine it is empty.
Findings survey(std::vector<DeviceDescription> const& devices, Impl::Topology const& topology,
                std::string const& root = "");

/// The link of the PCI device as it is now.
Link current_link(std::string const& pci_bus_id, std::string const& root = "");

}  // namespace KokkosHostSpaces::Perf

#endif
