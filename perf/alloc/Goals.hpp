// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_ALLOC_GOALS_HPP
#define KOKKOS_HOST_SPACES_PERF_ALLOC_GOALS_HPP

#include "Cold.hpp"
#include "Latency.hpp"

#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// What PinnedSpace is meant to reach on a machine with a GPU of the H200's class.
struct Goal {
  std::string what;
  std::string unit;
  bool at_least;  ///< else at most
  double wanted;
  std::optional<double> measured;  ///< the worst, if several figures count
  std::string where;               ///< of that figure

  bool reached() const {
    return measured && (at_least ? *measured >= wanted : *measured <= wanted);
  }
};

std::vector<Goal> check_goals(std::vector<Allocation> const& cold,
                              std::vector<Latency> const& latencies);

}  // namespace KokkosHostSpaces::Perf

#endif
