// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 3: DualViews, whose host side is page-locked.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

using DualPlate = khs::PinnedDualView<double**, Kokkos::LayoutRight, Device>;
using DualPower = khs::PinnedDualView<double*, Device>;

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  Device const instance;
  DualPlate now("now", n, n), next("next", n, n);
  DualPower power("power", n);
  double heat = 0;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    set_heater(power.view_host(), step);
    power.modify_host();
    power.sync_device(instance);  // returns at once
    time_step(instance, now.view_device(), next.view_device(), power.view_device());
    next.modify_device();
    next.sync_host(instance);  // returns at once
    instance.fence("the host reads and writes from here on");
    heat = heat_of(next.view_host());
    std::swap(now, next);
  }
  return report(timer, heat, heat_given(n, steps));
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
