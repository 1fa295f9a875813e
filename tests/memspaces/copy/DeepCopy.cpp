// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// deep_copy between the spaces that every build has.

#include "../KokkosTest.hpp"

TEMPLATE_TEST_CASE("a value fills a View, with and without an instance, and rank zero works",
                   "[deep_copy]", khs::PinnedSpace, khs::MappedSpace, khs::WriteCombinedSpace) {
  Kokkos::View<double**, TestType> const view("view", 20, 30);
  Kokkos::deep_copy(view, 3.5);
  CHECK(view(19, 29) == 3.5);
  Kokkos::DefaultExecutionSpace const instance;
  Kokkos::deep_copy(instance, view, 4.5);
  instance.fence();
  CHECK(view(19, 29) == 4.5);
  auto const column = Kokkos::subview(view, Kokkos::ALL, 7);
  Kokkos::deep_copy(instance, column, 5.5);
  instance.fence();
  CHECK(view(3, 7) == 5.5);
  CHECK(view(3, 8) == 4.5);

  Kokkos::View<double, TestType> const scalar("scalar");
  Kokkos::deep_copy(scalar, 7.);
  double value = 0;
  Kokkos::deep_copy(value, scalar);
  CHECK(value == 7.);
  Kokkos::View<double, Kokkos::HostSpace> const host("host");
  Kokkos::deep_copy(instance, host, scalar);
  instance.fence();
  CHECK(host() == 7.);
}

TEST_CASE("a wrong shape or an overlap is refused with both labels", "[deep_copy]") {
  Kokkos::View<double*, khs::PinnedSpace> const a("alpha", 10), b("beta", 11);
  Kokkos::DefaultExecutionSpace const instance;
  CHECK_THROWS_WITH(Kokkos::deep_copy(a, b), ContainsSubstring("alpha") &&
                                                 ContainsSubstring("beta") &&
                                                 ContainsSubstring("match"));
  CHECK_THROWS_WITH(Kokkos::deep_copy(instance, a, b), ContainsSubstring("alpha") &&
                                                           ContainsSubstring("beta") &&
                                                           ContainsSubstring("match"));
  using Range        = std::pair<int, int>;
  auto const front   = Kokkos::subview(a, Range(0, 6));
  auto const overlap = Kokkos::subview(a, Range(3, 9));
  CHECK_THROWS_WITH(Kokkos::deep_copy(instance, front, overlap), ContainsSubstring("overlapping"));
  Kokkos::deep_copy(instance, a, a);
  instance.fence();
}
