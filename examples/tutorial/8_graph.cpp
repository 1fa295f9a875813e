// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 8: many short kernels. Vector kernels on an instance, and a graph of Kokkos, which is one launch a time step.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>
#include <Kokkos_Graph.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

using Rod = Kokkos::View<double*, Device>;

// Heat spreads in a rod. For khs::parallel_for; n - 2 indices.
struct Spread {
  Rod now, next;
  KOKKOS_FUNCTION void operator()(int k) const {
    int const i = k + 1;
    next(i)     = 0.5 * now(i) + 0.25 * (now(i - 1) + now(i + 1));
  }
};

// The same as an element-wise kernel and a sum, for nodes of a graph.
struct Warm {
  Rod now, next, power;
  KOKKOS_FUNCTION void operator()(int i) const { now(i) = next(i) + power(i); }
};
struct AddHeat {
  Rod now;
  KOKKOS_FUNCTION void operator()(int i, double& heat) const { heat += now(i); }
};

struct Hottest {
  Rod now;
  KOKKOS_FUNCTION void operator()(int i, double& most) const {
    if (now(i) > most) most = now(i);
  }
};
struct Sum {
  KOKKOS_FUNCTION double operator()(double t, double p) const { return t + p; }
};
struct Same {
  KOKKOS_FUNCTION double operator()(double t) const { return t; }
};

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  Device const instance;
  Rod const rod("rod", n), next("next", n), power("power", n);
  Kokkos::View<double, Device> const heat("heat");
  Kokkos::View<double, khs::PinnedSpace> const host_heat("heat");
  auto const host_power = khs::create_pinned_mirror_view(instance, power);
  set_heater(host_power, 1);
  Kokkos::deep_copy(instance, power, host_power);

  double hottest = 0;
  khs::parallel_for("spread", instance, n - 2, Spread{rod, next});
  khs::element_wise("warm", instance, rod, Sum(), next, power);
  khs::element_sum("heat", instance, heat, Same(), rod);
  khs::parallel_reduce("hottest", instance, n, Hottest{rod}, Kokkos::Max<double>(hottest));
  Kokkos::deep_copy(instance, host_heat, heat);

  Kokkos::Experimental::Graph<Device> graph({instance});
  Kokkos::RangePolicy<Device> const inner(0, n - 2), all(0, n);
  auto const spread = graph.root_node().then_parallel_for("spread", inner, Spread{rod, next});
  auto const warmed = spread.then_parallel_for("warm", all, Warm{rod, next, power});
  auto const summed = warmed.then_parallel_reduce("heat", all, AddHeat{rod}, heat);
  khs::then_deep_copy(summed, host_heat, heat);
  graph.instantiate();

  Kokkos::Timer const timer;
  for (int step = 2; step <= steps; ++step) graph.submit(instance);
  instance.fence("the heat is here");
  return report(timer, host_heat(), n / 2 * double(steps)) && hottest > 0;
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
