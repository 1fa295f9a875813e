// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The code of memspaces/docs/Choosing.md, run and checked. The page holds copies of lines from here.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

namespace khs = KokkosHostSpaces;

namespace Choosing {

using Vector = Kokkos::View<double*>;
using Scalar = Kokkos::View<double>;

void vector_kernels(Kokkos::DefaultExecutionSpace const& instance, Vector a, Vector b, Vector c,
                    Scalar sum) {
  int const n = int(a.extent(0));
  khs::element_wise(
      "triad", instance, a, KOKKOS_LAMBDA(double x, double y) { return x + 3 * y; }, b, c);
  khs::element_sum(
      "dot", instance, sum, KOKKOS_LAMBDA(double x, double y) { return x * y; }, a, b);
  khs::parallel_for(
      "axpy", instance, n, KOKKOS_LAMBDA(int i) { a(i) += 2 * b(i); });
}

TEST_CASE("vector kernels", "[docs]") {
  Kokkos::DefaultExecutionSpace const instance;
  int const n = 1000;
  Vector const a("a", n), b("b", n), c("c", n);
  Scalar const sum("sum");
  Kokkos::deep_copy(b, 2.0);
  Kokkos::deep_copy(c, 1.0);
  vector_kernels(instance, a, b, c, sum);
  instance.fence();
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum)() == 10.0 * n);
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a)(n - 1) == 9);
}

}  // namespace Choosing
