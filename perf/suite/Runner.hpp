// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_RUNNER_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_RUNNER_HPP

#include "Pair.hpp"
#include "Ranks.hpp"

namespace KokkosHostSpaces::Perf {

/// Registers the cases with Google Benchmark. A repetition takes one sample of each side, in turn. All ranks
/// take a sample at the same time, and the slowest rank counts. The results of both sides are verified
/// after the first and the last repetition.
void register_cases(Cases cases, Ranks const& ranks, bool plant_error);

}  // namespace KokkosHostSpaces::Perf

#endif
