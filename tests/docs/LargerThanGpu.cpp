// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The code of memspaces/docs/LargerThanGpu.md, run and checked. The page holds copies of lines from
// here.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

namespace khs = KokkosHostSpaces;

using Vector = Kokkos::View<double*, khs::PinnedSpace>;
using Cube   = Kokkos::View<double***, Kokkos::LayoutRight, khs::PinnedSpace>;

namespace {

void triad(Vector a, Vector b, Vector c, std::int64_t n) {
  khs::streamed_for(
      "triad", n,
      KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> x, khs::Chunk<double const*> y,
                    khs::Chunk<double*> z) { z(i) = x(i) + 3 * y(i); },
      khs::read(b), khs::read(c), khs::write(a))
      .fence();
}

double dot(Vector b, Vector c, std::int64_t n) {
  double sum = 0;
  khs::streamed_reduce(
      "dot", n,
      KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> x, khs::Chunk<double const*> y,
                    double& s) { s += x(i) * y(i); },
      Kokkos::Sum<double>(sum), khs::read(b), khs::read(c));
  return sum;
}

void diffuse(Cube u, Cube v, int steps_in_a_pass) {
  khs::Box<3> const inside({1, 1, 1}, {u.extent(0) - 1, u.extent(1) - 1, u.extent(2) - 1});
  khs::streamed_chain("diffuse", inside,
                      khs::steps(
                          steps_in_a_pass,
                          KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k,
                                        khs::const_chunk_of<Cube> x, khs::chunk_of<Cube> y) {
                            y(i, j, k) =
                                0.5 * x(i, j, k) + 0.25 * (x(i - 1, j, k) + x(i + 1, j, k));
                          },
                          khs::read(u, khs::halo(1)), khs::write(v)))
      .fence();
}

void two_loops(Vector a, Vector b, std::int64_t n) {
  khs::Intermediate<double*> t;  // never leaves the device
  khs::streamed_chain("two loops", n,
                      khs::stage(
                          KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> x,
                                        khs::Chunk<double*> y) { y(i) = 2 * x(i); },
                          khs::read(b), khs::write(t)),
                      khs::stage(
                          KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> x,
                                        khs::Chunk<double*> y) { y(i) = x(i) + 1; },
                          khs::read(t), khs::write(a)))
      .fence();
}

std::string in_place(Vector a) {
  khs::StreamOptions<> options;
  options.transport            = khs::Transport::zero_copy;  // or staged, or automatic
  options.device_memory        = std::size_t(256) << 20;
  khs::StreamedLoop const loop = khs::streamed_for(
      "add one", options, std::int64_t(a.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double*> x) { x(i) += 1; }, khs::update(a));
  loop.fence();  // what follows on the same instance needs none
  return loop.explain();
}

Vector counting(char const* label, std::int64_t n) {
  Vector const v{std::string(label), std::size_t(n)};
  std::iota(v.data(), v.data() + n, 1.0);
  return v;
}

}  // namespace

TEST_CASE("a loop and a reduction over data larger than the GPU", "[docs]") {
  std::int64_t const n = 10000;
  Vector const a("a", std::size_t(n)), b = counting("b", n), c = counting("c", n);
  triad(a, b, c, n);
  CHECK(a(0) == 4);
  CHECK(a(std::size_t(n) - 1) == 4. * double(n));
  CHECK(dot(b, c, n) == double(n) * double(n + 1) * double(2 * n + 1) / 6);
}

TEST_CASE("several steps in one pass are those of several passes", "[docs]") {
  Cube const u("u", 40, 8, 8), v("v", 40, 8, 8), w("w", 40, 8, 8);
  std::iota(u.data(), u.data() + u.size(), 0.0);
  u(20, 4, 4) = -1e6;
  diffuse(u, v, 2);
  diffuse(u, w, 1);
  diffuse(w, u, 1);
  CHECK(std::equal(u.data(), u.data() + u.size(), v.data()));
  CHECK(v(20, 4, 4) != w(20, 4, 4));
}

TEST_CASE("loops with an array between them that never leaves the device", "[docs]") {
  std::int64_t const n = 5000;
  Vector const a("a", std::size_t(n)), b = counting("b", n);
  two_loops(a, b, n);
  CHECK(a(0) == 3);
  CHECK(a(std::size_t(n) - 1) == 2. * double(n) + 1);
}

TEST_CASE("the transport is a choice, and explained", "[docs]") {
  Vector const a        = counting("a", 1000);
  std::string const why = in_place(a);
  std::cout << why << '\n';
  CHECK(a(0) == 2);
  CHECK(a(999) == 1001);
  CHECK(why.find("zero-copy") != std::string::npos);
}
