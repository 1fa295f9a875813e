// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The simulation of all steps: heat spreads in a plate, and a heater along its middle row, which the host controls,
// adds to it. The heat in the plate is what the heater gave, as long as none has reached the boundary.

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_TUTORIAL_PLATE_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_TUTORIAL_PLATE_HPP

#include "../support/Example.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace Tutorial {

using Device = Kokkos::DefaultExecutionSpace;
using Plate  = Kokkos::View<double**, Kokkos::LayoutRight, Device>;

inline std::vector<Example::Option> const options = {
    {"rows", "1K", "rows and columns of the plate"},
    {"steps", "20", "time steps, fewer than a quarter of the rows"}};

/// One time step from `now` to `next`; column j of the middle row gets `power(j)`.
template <class Power>
void time_step(Device const& instance, Plate const& now, Plate const& next, Power const& power) {
  int const n = now.extent_int(0);
  Kokkos::parallel_for(
      "time_step", Kokkos::MDRangePolicy<Device, Kokkos::Rank<2>>(instance, {1, 1}, {n - 1, n - 1}),
      KOKKOS_LAMBDA(int i, int j) {
        next(i, j) = 0.5 * now(i, j) +
                     0.125 * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1)) +
                     (i == n / 2 ? power(j) : 0);
      });
}

/// The host sets the heater: half of the columns, in the middle, get `value`.
template <class Power>
void set_heater(Power const& power, double value) {
  int const n = power.extent_int(0);
  for (int j = 0; j < n; ++j) power(j) = j >= n / 4 && j < n / 4 + n / 2 ? value : 0;
}

/// The host adds up a plate that it can read.
template <class HostPlate>
double heat_of(HostPlate const& plate) {
  double heat = 0;
  for (std::size_t i = 0; i < plate.extent(0); ++i)
    for (std::size_t j = 0; j < plate.extent(1); ++j) heat += plate(i, j);
  return heat;
}

/// What the heater gave in steps 1, 2, ..., `steps` with the values 1, 2, ..., `steps`.
inline double heat_given(int n, int steps) { return n / 2 * (0.5 * steps * (steps + 1)); }

/// Prints both and the time of the loop, and returns whether they agree.
inline bool report(Kokkos::Timer const& timer, double heat, double given) {
  std::printf("%.2f ms; heat in the plate: %.6g, given: %.6g\n", 1e3 * timer.seconds(), heat,
              given);
  return std::abs(heat - given) < 1e-9 * given;
}

}  // namespace Tutorial

#endif
