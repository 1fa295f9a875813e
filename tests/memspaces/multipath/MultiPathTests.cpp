// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../KokkosTest.hpp"

TEST_CASE("what copies over several links copies as deep_copy with its instance",
          "[multi_path_plain]") {
  khs::MultiPath<> const paths;
  for (std::size_t n : {0, 1, 1000, 3000000}) {
    Kokkos::View<double*, khs::PinnedSpace> const host("host", n), back("back", n);
    Kokkos::View<double*> const device("device", n);
    for (std::size_t i = 0; i < n; ++i) host(i) = double(i);
    khs::deep_copy(paths, device, host);
    khs::deep_copy(paths, back, device);
    paths.instance().fence();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += back(i) != double(i);
    CHECK(wrong == 0);
  }
  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> const wide("wide", 7, 100);
  Kokkos::View<double*> const column("column", 7);
  Kokkos::deep_copy(paths.instance(), column, 3);
  khs::deep_copy(paths, Kokkos::subview(wide, Kokkos::ALL, 5), column);
  paths.instance().fence();
  CHECK(wide(6, 5) == 3);
  CHECK(wide(6, 4) == 0);
  paths.release_memory();
  CHECK_THAT(paths.explain(), Catch::Matchers::ContainsSubstring("own link"));
}

TEST_CASE("a neighbour that is not there is refused", "[multi_path_plain]") {
  using Instance = Kokkos::DefaultExecutionSpace;
  if (!khs::Impl::drives_device) SKIP("needs a device");
  CHECK_THROWS_AS(khs::MultiPath(Instance(), {99}), khs::Error);
  Kokkos::View<double*, khs::PinnedSpace> const host("host", 10);
  CHECK_THROWS_AS(khs::deep_copy(khs::MultiPath<>(), host, Kokkos::View<double*>("device", 11)),
                  khs::Error);
}
