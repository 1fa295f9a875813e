// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_OPTIONS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_OPTIONS_HPP

#include "Effort.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct SuiteOptions {
  Effort effort;
  std::vector<std::string> groups;  ///< empty: all
  std::string filter = ".";         ///< regular expression on the names
  std::string json;                 ///< file to write, or empty
  int repetitions  = 0;             ///< of each benchmark; 0: Effort::repetitions
  bool list        = false;
  bool help        = false;
  bool version     = false;
  bool plant_error = false;
  std::string serve_idioms;  ///< for a process that is adopted: the mode whose idioms it runs
};

std::string suite_usage();

/// \throw UsageError
SuiteOptions parse_suite_options(int argc, char const* const* argv);

}  // namespace KokkosHostSpaces::Perf

#endif
