// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 2: mirrors in page-locked memory, a strided copy, and Views that kernels read wherever they lie.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  Device const instance;
  Plate now("now", n, n), next("next", n, n);
  Kokkos::View<double*, khs::PinnedSpace> host_power("power", n), column("column", n);
  set_heater(host_power, 1);  // once, in this step of the tutorial
  auto const power  = khs::device_view(instance, host_power);
  auto const output = khs::create_pinned_mirror_view(instance, now);
  std::puts(khs::explain(instance, column, Kokkos::subview(now, Kokkos::ALL, n / 2)).c_str());
  double heat = 0, of_column = 0;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    time_step(instance, now, next, power);
    Kokkos::deep_copy(instance, output, next);
    Kokkos::deep_copy(instance, column, Kokkos::subview(next, Kokkos::ALL, n / 2));
    instance.fence("output and column are here");
    heat      = heat_of(output);
    of_column = column(n / 2);
    std::swap(now, next);
  }
  return report(timer, heat, n / 2 * double(steps)) && of_column == output(n / 2, n / 2);
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
