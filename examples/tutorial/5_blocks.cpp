// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 5: a block without its ghost cells by one copy, and many small parts by one call.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

bool simulate(Example::Options const& options) {
  std::size_t const n = options.size("rows"), steps = options.size("steps") / 2 * 2;
  Device const instance;
  Plate plate("plate", n, n), spare("spare", n, n);
  Kokkos::View<double*, khs::MappedSpace> power("power", n);

  auto const inside = std::make_pair(std::size_t(1), n - 1);
  auto const block  = Kokkos::subview(plate, inside, inside);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> output("output", n - 2, n - 2);

  Kokkos::View<double*, khs::PinnedSpace> west("west", n), east("east", n);
  auto const first = Kokkos::subview(plate, Kokkos::ALL, 1);
  auto const last  = Kokkos::subview(plate, Kokkos::ALL, n - 2);

  std::vector<double, khs::Allocator<double>> sample(n / 8 * n);  // a container in PinnedSpace
  Kokkos::View<double*, khs::PinnedSpace, Kokkos::MemoryUnmanaged> rows(sample.data(),
                                                                        sample.size());
  Kokkos::View<double*, Device, Kokkos::MemoryUnmanaged> const flat(plate.data(), plate.size());
  std::vector<khs::Slice> slices;  // every eighth row
  for (std::size_t i = 0; i < n / 8; ++i) slices.push_back({i * n, 8 * i * n, n});
  auto const sampling = khs::prepare_deep_copy_all(instance, rows, flat, slices);

  Kokkos::Timer const timer;
  for (std::size_t step = 1; step <= steps; step += 2) {
    set_heater(power, double(step) + 0.5);  // in both time steps
    time_step(instance, plate, spare, power);
    time_step(instance, spare, plate, power);
    Kokkos::deep_copy(instance, output, block);
    khs::deep_copy_all(instance, khs::copy_of(west, first), khs::copy_of(east, last));
    khs::deep_copy_all(instance, sampling);
    instance.fence("all output is here, and the heater was read");
  }
  bool right = west(n / 2) == output(n / 2 - 1, 0) && east(n / 2) == output(n / 2 - 1, n - 3);
  for (std::size_t i = 1; i < n / 8; ++i)
    right &= sample[i * n + n / 2] == output(8 * i - 1, n / 2 - 1);
  return report(timer, heat_of(output), heat_given(int(n), int(steps))) && right;
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
