// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_CONTEXT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_CONTEXT_HPP

#include "Options.hpp"
#include "Ranks.hpp"

#include <string>

namespace KokkosHostSpaces::Perf {

/// Adds to the context of the results where, how and with what they are measured, where each rank
/// is, and the limits of the link and of the memory, measured by the plain side. `cores`: those this
/// rank is bound to. All ranks together, with Kokkos initialised.
void describe_context(SuiteOptions const& options, Ranks const& ranks, std::string const& cores);

}  // namespace KokkosHostSpaces::Perf

#endif
