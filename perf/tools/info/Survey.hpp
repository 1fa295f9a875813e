// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_INFO_SURVEY_HPP
#define KOKKOS_HOST_SPACES_PERF_INFO_SURVEY_HPP

#include "Findings.hpp"

#include "../../../backend/os/Topology.hpp"
#include "../../plain/Platform.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// All that can be found without measuring. Files of the system are read below `root`; for this
/// machine it is empty.
Findings survey(std::vector<Device> const& devices, Impl::Backend::Topology const& topology,
                std::string const& root = "");

/// Adds rates to the GPUs, or to the host where there is none: by memory that the library's own way
/// of page-locking gets. Takes about 5 seconds in all. \throw std::exception
void measure(Findings& findings);

}  // namespace KokkosHostSpaces::Perf

#endif
