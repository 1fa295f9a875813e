// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 1: the space of host memory is a template parameter. It decides how the device reaches the heater.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

static_assert(KOKKOS_HOST_SPACES_VERSION >= 10000);  // 1.0.0

template <class HostSpace>
bool simulate_with(int n, int steps) {
  Device const instance;
  Plate now("now", n, n), next("next", n, n);
  Kokkos::View<double*, HostSpace> host_power("power", n);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> output("output", n, n);
  Kokkos::View<double*, Device> power("power", n);
  double heat = 0;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    set_heater(host_power, step);
    if constexpr (Kokkos::SpaceAccessibility<Device, HostSpace>::accessible) {
      time_step(instance, now, next, host_power);  // in place
    } else {
      Kokkos::deep_copy(instance, power, host_power);  // returns at once
      time_step(instance, now, next, power);
    }
    Kokkos::deep_copy(instance, output, next);  // returns at once
    instance.fence("output is here, and the heater was read");
    heat = heat_of(output);
    std::swap(now, next);
  }
  std::printf("%s: ", HostSpace::name());
  return report(timer, heat, heat_given(n, steps));
}

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  return simulate_with<khs::PinnedSpace>(n, steps) && simulate_with<khs::MappedSpace>(n, steps);
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
