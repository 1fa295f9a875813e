// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 4: one instance computes a time step, while another one copies the step before to the host, which looks at it.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  auto const instances = Kokkos::Experimental::partition_space(Device(), 1, 1);
  Device const compute = instances[0], copies = instances[1];
  Plate now("now", n, n), next("next", n, n);
  Kokkos::View<double*, khs::PinnedSpace> power("power", n);
  auto const in_place = khs::mapped_view(power);  // the same memory, which kernels may use
  auto const output   = khs::create_pinned_mirror_view(copies, now);
  bool right          = true;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    set_heater(power, step);
    time_step(compute, now, next, in_place);  // reads `now`
    Kokkos::deep_copy(copies, output, now);   // reads `now`, too
    copies.fence("the step before is here");
    right &= std::abs(heat_of(output) - heat_given(n, step - 1)) < 1e-9 * heat_given(n, step);
    compute.fence("the heater was read");
    std::swap(now, next);
  }
  Kokkos::deep_copy(output, now);
  return report(timer, heat_of(output), heat_given(n, steps)) && right;
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
