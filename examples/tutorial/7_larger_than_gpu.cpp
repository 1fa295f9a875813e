// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Step 7: a plate larger than the device memory that may be used, in chunks of rows.

#include "Plate.hpp"

#include <KokkosHostSpaces.hpp>

#include <cstdint>

namespace khs = KokkosHostSpaces;
using namespace Tutorial;

using HostPlate = Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace>;
using HostPower = Kokkos::View<double*, khs::PinnedSpace>;

khs::StreamedLoop streamed_step(khs::StreamOptions<> const& options, HostPlate const& now,
                                HostPlate const& next, khs::Resident<HostPower> const& power) {
  std::int64_t const n = now.extent_int(0);
  return khs::streamed_for<khs::Staged>(
      "time_step", options, khs::Box<2>({1, 1}, {n - 1, n - 1}),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, khs::const_chunk_of<HostPlate> t,
                    khs::Chunk<double const*> p, khs::chunk_of<HostPlate> out) {
        out(i, j) = 0.5 * t(i, j) +
                    0.125 * (t(i - 1, j) + t(i + 1, j) + t(i, j - 1) + t(i, j + 1)) +
                    (i == n / 2 ? p(j) : 0);
      },
      khs::read(now, khs::halo(1)), khs::read(power), khs::write(next));
}

bool simulate(Example::Options const& options) {
  int const n = int(options.size("rows")), steps = int(options.size("steps"));
  HostPlate now("now", n, n), next("next", n, n);
  HostPower host_power("power", n);
  auto const power = khs::resident(host_power);  // one copy on the device, for all chunks
  khs::StreamOptions<> limits;
  limits.device_memory = now.size() * sizeof(double) / 4;
  khs::StreamedLoop loop;
  Kokkos::Timer const timer;
  for (int step = 1; step <= steps; ++step) {
    set_heater(host_power, step);
    power.refresh();
    loop = streamed_step(limits, now, next, power);
    loop.fence();
    std::swap(now, next);
  }
  std::puts(loop.explain().c_str());
  return report(timer, heat_of(now), heat_given(n, steps));
}

int main(int argc, char* argv[]) { return Example::run(argc, argv, options, simulate); }
