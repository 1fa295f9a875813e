// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_INFO_SURVEY_HPP
#define KOKKOS_HOST_SPACES_PERF_INFO_SURVEY_HPP

#include "Findings.hpp"

#include "../../backend/os/Topology.hpp"
#include "../plain/Platform.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// All that can be found without measuring. Files of the system are read below `root`; for this
/// machine it is empty.
Findings survey(std::vector<Device> const& devices, Impl::Topology const& topology,
                std::string const& root = "");

}  // namespace KokkosHostSpaces::Perf

#endif
