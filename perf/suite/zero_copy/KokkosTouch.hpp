// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_KOKKOS_TOUCH_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_KOKKOS_TOUCH_HPP

#include "TouchBaseline.hpp"
#include "../Instance.hpp"

#include <cstdint>

namespace KokkosHostSpaces::Perf {

using TeamOfRuns = Kokkos::TeamPolicy<Execution>;

/// A policy with a thread of a team, with its vector lanes, for each run.
inline constexpr int runs_of_team = runs_on_device ? 8 : 1;

inline TeamOfRuns policy_of(Execution const& instance, TouchedRuns const& runs) {
  int const teams = int((runs.touched + runs_of_team - 1) / runs_of_team);
  return TeamOfRuns(instance, teams, runs_of_team, runs_on_device ? 32 : 1);
}

KOKKOS_INLINE_FUNCTION std::uint64_t first_element(TouchedRuns const& runs, std::uint64_t run) {
  return run_elements * (run * runs.all / runs.touched + runs.shift);
}

/// Adds the sum of run j to sums(j).
template <class Array, class Sums>
struct AddRuns {
  Array array;
  Sums sums;
  TouchedRuns runs;

  KOKKOS_FUNCTION void operator()(TeamOfRuns::member_type const& team) const {
    std::uint64_t const run = std::uint64_t(team.league_rank()) * runs_of_team + team.team_rank();
    if (run >= runs.touched) return;
    std::uint64_t const first = first_element(runs, run);
    double sum                = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, run_elements),
        [&](int i, double& part) { part += array(first + i); }, sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { sums(run) += sum; });
  }
};

/// Sets each element e of the runs to value + e.
template <class Array>
struct WriteRuns {
  Array array;
  double value;
  TouchedRuns runs;

  KOKKOS_FUNCTION void operator()(TeamOfRuns::member_type const& team) const {
    std::uint64_t const run = std::uint64_t(team.league_rank()) * runs_of_team + team.team_rank();
    if (run >= runs.touched) return;
    std::uint64_t const first = first_element(runs, run);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, run_elements),
                         [&](int i) { array(first + i) = value + double(first + i); });
  }
};

}  // namespace KokkosHostSpaces::Perf

#endif
