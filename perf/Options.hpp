// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_OPTIONS_HPP
#define KOKKOS_HOST_SPACES_PERF_OPTIONS_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct Options {
  std::size_t max_bytes                = std::size_t(1) << 30;  ///< of one array
  std::vector<std::size_t> allocations = {std::size_t(256) << 20, std::size_t(4) << 30};
  int repetitions                      = 11;
  int allocation_repetitions           = 3;
  std::string json;
  bool help = false;

  // For the tests of the program, and for the processes that it starts.
  bool plant_error              = false;
  std::size_t allocation_sample = 0;
};

extern char const* const usage;

/// Ignores Kokkos' own flags. \throw UsageError
Options parse_options(int argc, char const* const* argv);

}  // namespace KokkosHostSpaces::Perf

#endif
