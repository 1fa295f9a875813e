// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_INFO_WARNINGS_HPP
#define KOKKOS_HOST_SPACES_PERF_INFO_WARNINGS_HPP

#include "Findings.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct Warning {
  std::string name;     ///< for programs, such as "slow_link"
  std::string problem;  ///< and why it matters
  std::string remedy;
};

/// Returns the reasons why this machine is slower, or less safe, than it could be.
std::vector<Warning> warnings_of(Findings const& findings);

}  // namespace KokkosHostSpaces::Perf

#endif
