// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_CHILD_PROCESS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_CHILD_PROCESS_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Runs this program again with the given arguments and returns what it writes to stdout.
/// \throw std::runtime_error if it cannot be started or does not exit with 0
std::string run_again(std::vector<std::string> arguments);

}  // namespace KokkosHostSpaces::Perf

#endif
