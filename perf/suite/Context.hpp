// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_CONTEXT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_CONTEXT_HPP

#include "Options.hpp"
#include "Ranks.hpp"

#include <string>

namespace KokkosHostSpaces::Perf {

/// Adds machine, build, options, the place of each rank and the limits of link and memory to the context of
/// the results. A collective call of all ranks; Kokkos must be initialised.
/// \param cores those that this rank is bound to
void describe_context(SuiteOptions const& options, Ranks const& ranks, std::string const& cores);

}  // namespace KokkosHostSpaces::Perf

#endif
