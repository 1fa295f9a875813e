// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

namespace khs = KokkosHostSpaces;

namespace {
using Vector = Kokkos::View<double*, khs::PinnedSpace>;
using In     = khs::In<double const*>;
using Out    = khs::In<double*>;

void triad(khs::StreamOptions<> const& options) {
  constexpr int n = 1000;
  Vector const a("a", n), b("b", n), c("c", n);
  for (int i = 0; i < n; ++i) {
    b(i) = i;
    c(i) = 2 * i;
  }
  khs::streamed_for(
      "triad", options, n,
      KOKKOS_LAMBDA(std::int64_t i, In x, In y, Out z) { z(i) = x(i) + 3 * y(i); }, khs::read(b),
      khs::read(c), khs::write(a))
      .fence();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += a(i) != 7. * i;
  CHECK(wrong == 0);
  double sum = 0;
  khs::streamed_reduce(
      "sum", options, n, KOKKOS_LAMBDA(std::int64_t i, In x, double& s) { s += x(i); },
      Kokkos::Sum<double>(sum), khs::read(b));
  CHECK(sum == 1000. * 999 / 2);
  khs::streamed_chain(
      "steps", options, khs::Box<1>({1}, {n - 1}),
      khs::steps(
          3, KOKKOS_LAMBDA(std::int64_t i, In u, Out v) { v(i) = u(i - 1) + u(i + 1); },
          khs::read(b, khs::halo(1)), khs::write(a)))
      .fence();
  for (int i = 3; i < n - 3; ++i) wrong += a(i) != 8. * i;
  CHECK(wrong == 0);
}
}  // namespace

TEST_CASE("a streamed triad", "[streamed]") {
  triad({});
  triad({.chunk_rows = 7});
  triad({.transport = khs::Transport::zero_copy});
}
