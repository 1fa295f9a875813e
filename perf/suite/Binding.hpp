// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_BINDING_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_BINDING_HPP

#include "Ranks.hpp"

#include <string>

namespace KokkosHostSpaces::Perf {

/// Binds this process to its share of the cores that are near its device (without devices: of all
/// cores), unless the launcher has bound it already. To be called before threads are made.
/// \return the cores it may run on, such as "0-15"; empty where hwloc does not know the machine
std::string bind_to_cores(Ranks const& ranks);

}  // namespace KokkosHostSpaces::Perf

#endif
