// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Heat spreads in a cube that does not fit the device memory which the loop may use. Step by step,
// all of the data would cross the link in every time step; a chain takes several steps in one pass.
// Both ways give the same bits. The cube's middle is shown as a picture.

#include "support/Example.hpp"
#include "support/ProgressBar.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace khs = KokkosHostSpaces;

using Device = Kokkos::DefaultExecutionSpace;
using Cube   = Kokkos::View<double***, Kokkos::LayoutRight, khs::PinnedSpace>;
using OnHost = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;

// A hot ball in the middle; the faces stay cold.
void make_ball(Cube const& u) {
  std::size_t const n = u.extent(0);
  Kokkos::parallel_for("make_ball", OnHost(0, n), [=](std::size_t i) {
    auto const square = [n](std::size_t x) {
      double const d = 2 * (double(x) + 0.5) / double(n) - 1;
      return d * d;
    };
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        u(i, j, k) = square(i) + square(j) + square(k) < 0.36 ? 1 : 0;
  });
  Kokkos::DefaultHostExecutionSpace().fence();
}

// Some time steps from `from` to `to`, in one pass over the data.
void diffuse(khs::StreamOptions<Device> const& options, int steps, Cube from, Cube to) {
  std::int64_t const n = std::int64_t(from.extent(0));
  khs::streamed_chain("diffuse", options, khs::Box<3>({1, 1, 1}, {n - 1, n - 1, n - 1}),
                      khs::steps(
                          steps,
                          KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k,
                                        khs::const_chunk_of<Cube> u, khs::chunk_of<Cube> v) {
                            v(i, j, k) = 0.4 * u(i, j, k) +
                                         0.1 * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) +
                                                u(i, j + 1, k) + u(i, j, k - 1) + u(i, j, k + 1));
                          },
                          khs::read(from, khs::halo(1)), khs::write(to)))
      .fence();
}

struct Simulation {
  khs::StreamOptions<Device> options;
  int steps;

  // Returns the seconds that it took; the result is in `u`.
  double run(Cube& u, Cube& v, int steps_of_a_pass) const {
    make_ball(u);
    diffuse(options, steps_of_a_pass, u, v);  // makes the buffers on the device
    Example::ProgressBar bar;
    Kokkos::Timer timer;
    for (int done = 0; done < steps;) {
      int const now = std::min(steps_of_a_pass, steps - done);
      diffuse(options, now, u, v);
      std::swap(u, v);
      done += now;
      bar.show(double(done) / steps);
    }
    return timer.seconds();
  }
};

// The plane in the middle, a character for some points, from cold to hot.
void draw(Cube const& u) {
  std::string const shades = " .:-=+*#%@";
  std::size_t const n = u.extent(0), lines = std::min<std::size_t>(n, 24), columns = 2 * lines;
  double hottest = 0;
  auto const at  = [&](std::size_t line, std::size_t column) {
    return u(n / 2, line * n / lines, column * n / columns);
  };
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t column = 0; column < columns; ++column)
      hottest = std::max(hottest, at(line, column));
  for (std::size_t line = 0; line < lines; ++line) {
    std::string row;
    for (std::size_t column = 0; column < columns; ++column) {
      double const heat = hottest > 0 ? at(line, column) / hottest : 0;
      row += shades[std::size_t(heat * double(shades.size() - 1))];
    }
    std::printf("  %s\n", row.c_str());
  }
}

std::size_t count_differing(Cube const& u, Cube const& v) {
  Kokkos::View<double*, khs::PinnedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const a(
      u.data(), u.size());
  return Example::count_wrong(a, [data = v.data()](std::size_t i) { return data[i]; });
}

bool run(Example::Options const& options) {
  std::size_t const n =
      std::max<std::size_t>(8, std::size_t(std::cbrt(double(options.elements<double>("bytes")))));
  auto const cube = [n](char const* label) {
    return Cube(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), n, n, n);
  };
  Cube u = cube("u"), v = cube("v"), one_by_one = cube("one by one");
  Simulation simulation;
  simulation.options.device_memory = options.size("device-memory");
  simulation.steps                 = int(options.size("steps"));
  int const chain                  = int(options.size("chain"));
  std::printf("A cube of %zu x %zu x %zu, two arrays of %.2f GB, %s of device memory, %d steps\n",
              n, n, n, 1e-9 * double(u.size() * sizeof(double)),
              Example::bytes_text(simulation.options.device_memory).c_str(), simulation.steps);

  double const slow = simulation.run(one_by_one, v, 1);
  std::printf("a step in a pass:  %9.2f ms\n", 1e3 * slow);
  double const fast = simulation.run(u, v, chain);
  std::printf("%2d steps in a pass: %8.2f ms", chain, 1e3 * fast);
  if (Example::across_a_link) std::printf(", %.1f times as fast", slow / fast);
  std::printf("\n\n");
  draw(u);

  std::size_t const differing = count_differing(u, one_by_one);
  double const heat           = u(n / 2, n / 2, n / 2);
  std::printf("\n%zu of %zu points differ between both ways\n", differing, u.size());
  return differing == 0 && heat > 0.5 && u(0, 0, 0) == 0;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv,
                      {{"bytes", "1G", "size of each of two cubes (a third one is for comparison)"},
                       {"device-memory", "256M", "most device memory that a loop may use"},
                       {"steps", "32", "time steps"},
                       {"chain", "8", "time steps in a pass over the data"}},
                      run);
}
