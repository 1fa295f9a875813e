// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops with KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK. The argument names a loop; a wrong one aborts, and says which
// element it touches.

#include <KokkosHostSpaces.hpp>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace khs = KokkosHostSpaces;

namespace {

constexpr int rows = 400;
using Vector       = Kokkos::View<double*, Kokkos::LayoutRight, khs::PinnedSpace>;
using Matrix       = Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace>;
using Left         = Kokkos::View<double***, Kokkos::LayoutLeft, khs::PinnedSpace>;
using In           = khs::Chunk<double const*>;
using Out          = khs::Chunk<double*>;

struct Before {
  int distance;
  KOKKOS_FUNCTION void operator()(std::int64_t i, In x, Out y) const { y(i) = x(i - distance); }
};

void shift(int distance, Vector const& x, Vector const& y) {
  khs::streamed_for("shift", khs::Box<1>({10}, {rows}), Before{distance},
                    khs::read(x, khs::halo(3)), khs::write(y))
      .fence();
}

struct Sides {
  int distance;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, khs::const_chunk_of<Matrix> x,
                                  khs::chunk_of<Matrix> y) const {
    y(i, j) = x(i, j - distance) + x(i, j + distance);
  }
};

void sides(int distance) {
  Matrix const x("x", rows, 8), y("y", rows, 8);
  khs::streamed_for("sides", khs::Box<2>({0, 2}, {rows, 6}), Sides{distance}, khs::read(x),
                    khs::update(y))
      .fence();
}

struct Slabs {
  int distance;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  khs::const_chunk_of<Left> x, khs::chunk_of<Left> y) const {
    y(i, j, k) = x(i, j, k + distance);
  }
};

void slabs(int distance) {
  Left const x("x", 3, 5, rows), y("y", 3, 5, rows);
  khs::streamed_for("slabs", khs::Box<3>({0, 0, 0}, {3, 5, rows - 9}), Slabs{distance},
                    khs::read(x, khs::halo(2)), khs::update(y))
      .fence();
}

struct Look {
  KOKKOS_FUNCTION void operator()(std::int64_t i, In table, Out y) const { y(i) = table(i % 7); }
};

void table(int extent) {
  Vector const small("small", extent), y("y", rows);
  auto const resident = khs::resident(small);
  khs::streamed_for("table", rows, Look(), khs::read(resident), khs::write(y)).fence();
}

struct Difference {
  KOKKOS_FUNCTION void operator()(std::int64_t i, In x, double& sum) const {
    sum += x(i) - x(i - 1);
  }
};

struct Smooth {
  int distance;
  KOKKOS_FUNCTION void operator()(std::int64_t i, In x, Out y) const {
    y(i) = x(i - distance) + x(i + distance);
  }
};

void steps(int distance, Vector const& x) {
  khs::streamed_chain("steps", khs::Box<1>({9}, {rows - 9}),
                      khs::steps(3, Smooth{distance}, khs::read(x, khs::halo(1)), khs::write(x)))
      .fence();
}

void differences(std::int64_t halo, Vector const& x) {
  double sum = 0;
  khs::streamed_reduce("differences", khs::Box<1>({1}, {rows}), Difference(), sum,
                       khs::read(x, khs::halo(halo)));
}

void run(std::string const& loop) {
  Vector const x("x", rows), y("y", rows);
  if (loop == "right") {
    shift(3, x, y);
    shift(3, x, x);
    sides(1);
    slabs(2);
    table(7);
    differences(1, x);
    steps(1, x);
  }
  if (loop == "halo") shift(4, x, y);
  if (loop == "in_place") shift(4, x, x);
  if (loop == "inner") sides(3);
  if (loop == "left") slabs(3);
  if (loop == "table") table(5);
  if (loop == "reduce") differences(0, x);
  if (loop == "steps") steps(2, x);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT,
              [](int) { std::_Exit(1); });  // ctest reads no words of a process that a signal ends
  Kokkos::ScopeGuard const kokkos(argc, argv);
  run(argc > 1 ? argv[1] : "right");
}
