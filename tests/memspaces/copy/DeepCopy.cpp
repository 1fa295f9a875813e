// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// deep_copy between the spaces that every build has.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace khs = KokkosHostSpaces;
using Catch::Matchers::ContainsSubstring;
using Left  = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

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

TEMPLATE_TEST_CASE("Views that are atomic and unmanaged are copied as any, in each way",
                   "[deep_copy]", khs::PinnedSpace, khs::MappedSpace) {
  using Plain = Kokkos::View<int**, Left, TestType>;
  using Atomic =
      Kokkos::View<int**, Left, TestType, Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::Atomic>>;
  Plain const a("a", 3, 4), b("b", 3, 4), c("c", 3, 4);
  Atomic const to(b.data(), 3, 4), from(a.data(), 3, 4);
  Kokkos::DefaultExecutionSpace const instance;
  bool right           = true;
  auto const each_time = [&](int value, auto const& copy) {
    for (int i = 0; i < 12; ++i) a.data()[i] = value + i, b.data()[i] = c.data()[i] = 0;
    copy();
    instance.fence();
    auto const has = [&](Plain const& view) {
      return view(2, 3) == value + 11 && view(0, 1) == value + 3;
    };
    right = right && (has(b) || has(c));
  };
  each_time(1, [&] { Kokkos::deep_copy(to, from); });
  each_time(2, [&] { Kokkos::deep_copy(instance, to, a); });
  each_time(3, [&] { Kokkos::deep_copy(instance, b, from); });
  each_time(4, [&] { khs::deep_copy_all(instance, khs::copy_of(to, from)); });
  each_time(5, [&] { Kokkos::deep_copy(Kokkos::subview(to, Kokkos::ALL, std::pair(0, 4)), from); });
  CHECK(right);
  int written = 0;
  khs::snapshot("atomic", instance, from, [&](auto const& host) { written = host(2, 3); }).fence();
  CHECK(written == 16);
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
