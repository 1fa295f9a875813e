// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_REPORT_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_REPORT_HPP

#include "Decomposition.hpp"
#include "Options.hpp"
#include "Timing.hpp"
#include "Verification.hpp"

#include <cstdio>
#include <string>

namespace Heat {

/// What a run has shown.
struct Report {
  Options const& options;
  Decomposition const& decomposition;
  int processes;
  double largest_halo;  ///< bytes that a process sends in a step
  Timings timings;
  Verification verification;

  double cells() const {
    Index3 const global = decomposition.global();
    return double(global[0]) * global[1] * global[2];
  }
};

void print(Report const& report);

/// \throw std::runtime_error
void write_json(Report const& report, std::string const& file);

}  // namespace Heat

#endif
