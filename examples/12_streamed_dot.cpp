// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The dot product of two vectors in host memory that are larger than the device memory which the
// reduction may use: into a variable, which waits for the result, and into a View, while the host
// does something else. The parts of the chunks are added in their order, so that the result is the
// same in every run, bit for bit.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace khs = KokkosHostSpaces;

using Device = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, khs::PinnedSpace>;

// Where the result goes decides whether the call waits for it.
template <class Reducer>
khs::StreamedLoop dot(khs::StreamOptions<Device> const& options, Vector x, Vector y,
                      Reducer const& result) {
  return khs::streamed_reduce(
      "dot", options, std::int64_t(x.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> x_chunk,
                    khs::Chunk<double const*> y_chunk,
                    double& sum) { sum += x_chunk(i) * y_chunk(i); },
      result, khs::read(x), khs::read(y));
}

// Adds in pairs of halves, which loses next to nothing.
double careful_dot(Vector const& x, Vector const& y, std::size_t first, std::size_t last) {
  if (last - first > 1024) {
    std::size_t const middle = first + (last - first) / 2;
    return careful_dot(x, y, first, middle) + careful_dot(x, y, middle, last);
  }
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += x(i) * y(i);
  return sum;
}

bool run(Example::Options const& options) {
  std::size_t const n = options.elements<double>("bytes");
  auto const vector   = [n](char const* label) {
    return Vector(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), n);
  };
  Vector const x = vector("x"), y = vector("y");
  Example::fill(x, [](std::size_t i) { return 1 / (1 + double(i % 1013)); });
  Example::fill(y, [](std::size_t i) { return 1 + double(i % 31) / 7; });
  khs::StreamOptions<Device> how;
  how.device_memory = options.size("device-memory");
  std::printf("Two vectors of %s, and %s of device memory\n",
              Example::bytes_text(n * sizeof(double)).c_str(),
              Example::bytes_text(how.device_memory).c_str());

  double first = 0;
  dot(how, x, y, Kokkos::Sum<double>(first));
  bool repeatable = true;
  for (int run = 0; run < 3; ++run) {
    double again = 0;
    Kokkos::Timer timer;
    dot(how, x, y, Kokkos::Sum<double>(again));
    double const seconds = timer.seconds();
    std::printf("%.17g in %8.2f ms, %6.2f GB/s\n", again, 1e3 * seconds,
                2e-9 * double(n * sizeof(double)) / seconds);
    repeatable = repeatable && again == first;
  }

  // The host adds up meanwhile, too.
  Kokkos::View<double, khs::PinnedSpace> const later("later");
  khs::StreamedLoop const loop = dot(how, x, y, Kokkos::Sum<double, khs::PinnedSpace>(later));
  double const expected        = careful_dot(x, y, 0, n);
  loop.fence();
  double const error = std::abs(later() - expected) / expected;
  std::printf("%.17g by the host, at the same time: they differ by %.1e of it\n", expected, error);
  std::printf("%s\n", loop.explain().c_str());
  return repeatable && later() == first && error < 1e-12;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv,
                      {{"bytes", "1G", "size of each of two vectors"},
                       {"device-memory", "256M", "most device memory that the loop may use"}},
                      run);
}
