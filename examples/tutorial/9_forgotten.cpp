// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 9: a program that was ported in part. The audit tells what was forgotten.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  Device const instance;
  Plate now("plate", n, n), next("plate", n, n);
  Kokkos::View<double*, khs::MappedSpace> power("power", n);
  auto const output = Kokkos::create_mirror(now);  // pageable memory
  Kokkos::View<double, Kokkos::HostSpace> probe("probe");
  double heat = 0;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    set_heater(power, step);
    time_step(instance, now, next, power);
    Kokkos::deep_copy(output, next);  // waits for the whole device
    for (int i = 0; i < n; i += 8)    // tiny copies
      Kokkos::deep_copy(instance, probe, Kokkos::subview(next, i, n / 2));
    heat = heat_of(output);
    std::swap(now, next);
  }
  return report(timer, heat, heat_given(n, steps));
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
