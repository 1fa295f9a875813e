// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_BINDING_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_BINDING_HPP

#include "Ranks.hpp"

#include <string>

namespace KokkosHostSpaces::Perf {

/// Binds this process to its share of the cores nearest to its device (without a device, of all cores),
/// unless the launcher has bound it already. Call it before any thread is created.
/// \return the cores it may run on, such as "0-15"; empty if hwloc does not know the machine
std::string bind_to_cores(Ranks const& ranks);

}  // namespace KokkosHostSpaces::Perf

#endif
