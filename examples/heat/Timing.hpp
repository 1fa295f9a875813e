// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_TIMING_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_TIMING_HPP

#include "Processes.hpp"

#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <vector>

namespace Heat {

/// Median time in seconds of `repeats` calls of `work`, which must wait for what it submits; of the
/// slowest process. All processes call it.
template <class Work>
double median_seconds(Processes const& processes, int repeats, Work const& work) {
  std::vector<double> seconds;
  processes.barrier();
  for (int i = 0; i < repeats; ++i) {
    Kokkos::Timer const timer;
    work(i);
    seconds.push_back(timer.seconds());
  }
  auto const middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return processes.maximum(*middle);
}

/// Seconds, by process as above.
struct Timings {
  double step;           ///< of the simulation
  double compute_only;   ///< one without neighbours
  double exchange_only;  ///< only the halo

  /// What is left to see of the exchange, and of cutting the work in two for it.
  double exposed() const { return std::max(0.0, step - compute_only); }
};

}  // namespace Heat

#endif
