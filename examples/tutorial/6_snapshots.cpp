// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 6: output that does not stop the run. A thread of the library calls the writer.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  Device const instance;
  Plate now("now", n, n), next("next", n, n);
  Kokkos::View<double*, khs::MappedSpace> power("power", n);
  std::vector<double> heat;
  khs::Snapshot last;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    set_heater(power, step);
    time_step(instance, now, next, power);
    last = khs::snapshot("plate", instance, next, [&heat](auto const& host) {
      heat.push_back(heat_of(host));  // or write a file
    });
    instance.fence("the heater was read");
    std::swap(now, next);
  }
  try {
    last.fence();  // all writers are done
  } catch (khs::Error const& error) {
    std::fprintf(stderr, "no output: %s\n", error.what());
    return false;
  }
  return report(timer, heat.back(), heat_given(n, steps)) && int(heat.size()) == steps;
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
