// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_ALLOC_OPTIONS_HPP
#define KOKKOS_HOST_SPACES_PERF_ALLOC_OPTIONS_HPP

#include "Latency.hpp"

namespace KokkosHostSpaces::Perf {

struct AllocOptions {
  std::vector<std::string> cases;
  Effort effort;
  int cold_repetitions = 3;
  std::string json;
  bool help = false, list = false;

  std::size_t allocation_sample = 0;  ///< for the processes that the program starts

  bool wants(std::string const& name) const;
};

struct Case {
  char const* name;
  char const* what;
};

/// What this machine's build can measure.
extern std::vector<Case> const all_cases;

extern char const* const alloc_usage;

/// Ignores Kokkos' own flags. \throw UsageError
AllocOptions parse_alloc_options(int argc, char const* const* argv);

}  // namespace KokkosHostSpaces::Perf

#endif
