// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_RUNNER_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_RUNNER_HPP

#include "Pair.hpp"
#include "Ranks.hpp"

namespace KokkosHostSpaces::Perf {

/// Registers the cases with Google Benchmark. One repetition is one sample of each way, in turn;
/// all ranks take each sample at the same time, and the time is that of the slowest rank. The
/// results of both ways are checked after the first and the last repetition.
void register_cases(Cases cases, Ranks const& ranks, bool plant_error);

}  // namespace KokkosHostSpaces::Perf

#endif
