// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 0: a stock Kokkos code. In each time step the host sets the heater, and looks at the plate.

#include "Plate.hpp"

using namespace Tutorial;

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  Plate now("now", n, n), next("next", n, n);
  Kokkos::View<double*, Device> power("power", n);
  auto const host_power = Kokkos::create_mirror_view(power);
  auto const output     = Kokkos::create_mirror(now);
  double heat           = 0;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    set_heater(host_power, step);
    Kokkos::deep_copy(power, host_power);
    time_step(Device(), now, next, power);
    Kokkos::deep_copy(output, next);
    heat = heat_of(output);
    std::swap(now, next);
  }
  return report(timer, heat, heat_given(n, steps));
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
