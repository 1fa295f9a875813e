// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The code of memspaces/docs/HowItWorks.md, run and checked. The page holds copies of lines from
// here.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace khs = KokkosHostSpaces;

namespace HowItWorks {

namespace {

constexpr int n = 100000;

}  // namespace

TEST_CASE("memory is given back while a kernel may still use it", "[docs]") {
  Kokkos::DefaultExecutionSpace instance;
  Kokkos::View<double*> device("device", n);
  {
    Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);
    for (int i = 0; i < n; ++i) buffer(i) = i;
    Kokkos::deep_copy(instance, device, buffer);
  }  // the copy may still run: the memory is retired, and nobody waits
  Kokkos::View<double*, khs::PinnedSpace> next("next", n);  // never the memory of that copy
  for (int i = 0; i < n; ++i) next(i) = -1;
  instance.fence();
  auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  CHECK(copied(n - 1) == n - 1);
  CHECK(next(0) == -1);
}

TEST_CASE("a View that is zero in memory that was used", "[docs]") {
  {
    Kokkos::View<double*, khs::PinnedSpace> const before("before", n);
    for (int i = 0; i < n; ++i) before(i) = i;
  }
  Kokkos::fence();
  Kokkos::View<double*, khs::PinnedSpace> sums("sums", n);  // zeros, whoever had the memory before
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, sums(i));
  CHECK(largest == 0);
}

TEST_CASE("memory of others that children shall not have", "[docs]") {
  std::size_t const bytes = std::size_t(1) << 20;
  void* const pages       = std::aligned_alloc(1 << 16, bytes);
  {
    khs::Registration shared(pages, bytes, "pages", khs::AtFork::leave_out);  // whole pages only
    CHECK(shared.bytes() == bytes);
  }
  std::free(pages);
}

TEST_CASE("what the pool holds", "[docs]") {
  Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);
  std::cout << khs::pool::to_text(khs::pool::statistics());
  auto owner = khs::pool::describe(buffer);  // owner->label is "buffer"
  REQUIRE(owner.has_value());
  CHECK(owner->label == "buffer");
}

TEST_CASE("memory before it is needed, and given back", "[docs]") {
  auto reservation = khs::pool::reserve(std::size_t(64) << 20);  // page-locked in the background
  reservation.wait();                                            // not needed: allocate meanwhile
  khs::pool::set_limit(std::size_t(8) << 30);
  std::size_t returned = khs::pool::trim(0);
  CHECK(returned >= std::size_t(64) << 20);
  khs::pool::set_limit(0);
}

TEST_CASE("strided copies on an instance", "[docs]") {
  Kokkos::View<double**, Kokkos::LayoutRight> device("device", 100, 100);
  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> host("host", 100, 100);
  for (int i = 0; i < 100; ++i) host(i, 7) = i;

  Kokkos::DefaultExecutionSpace instance;
  auto column = Kokkos::subview(host, Kokkos::ALL, 7);  // every 100th element
  Kokkos::deep_copy(instance, Kokkos::subview(device, Kokkos::ALL, 7), column);
  instance.fence();
  auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  CHECK(copied(99, 7) == 99);
  CHECK(copied(99, 6) == 0);
}

}  // namespace HowItWorks
