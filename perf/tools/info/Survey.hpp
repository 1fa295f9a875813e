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

/// Finds all that needs no measurement.
///
/// \param root prefix of the system's files; empty: those of this machine
Findings survey(std::vector<Device> const& devices, Impl::Backend::Topology const& topology,
                std::string const& root = "");

/// Adds rates to the GPUs, or to the host if there is none, with memory that the library
/// page-locks. Takes about 5 seconds in all.
///
/// \throw std::exception
void measure(Findings& findings);

}  // namespace KokkosHostSpaces::Perf

#endif
