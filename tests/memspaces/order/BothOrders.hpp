// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The cases of a source that includes this library and one that knows Kokkos alone, in the order that it has chosen.
// KOKKOS_HOST_SPACES_TESTS_ORDER names that, and `library_last` says whether that library sees ours.

#include "OrderCases.hpp"

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;

TEST_CASE("mirrors in our spaces by a library and by ourselves: " KOKKOS_HOST_SPACES_TESTS_ORDER,
          "[order]") {
  Kokkos::View<int*, Kokkos::HostSpace> const host("host", n);
  for (int i = 0; i < n; ++i) host(i) = i;
  auto const theirs = ThirdParty::mirror(khs::PinnedSpace(0), host);
  auto const ours   = Kokkos::create_mirror(khs::PinnedSpace(0), host);
  STATIC_CHECK(std::is_same_v<decltype(theirs), decltype(ours)>);
  ThirdParty::copy(theirs, host);
  Kokkos::deep_copy(ours, theirs);
  CHECK(ours(n - 1) == n - 1);
  CHECK(ThirdParty::mirror_and_copy(khs::MappedSpace(0), ours)(n - 1) == n - 1);
  CHECK(Kokkos::create_mirror_view_and_copy(khs::MappedSpace(0), theirs)(n - 1) == n - 1);
  STATIC_CHECK(
      std::is_same_v<decltype(ThirdParty::mirror_and_copy(khs::PinnedSpace(0), host)),
                     decltype(Kokkos::create_mirror_view_and_copy(khs::PinnedSpace(0), host))>);
}

#ifdef KOKKOS_ENABLE_CUDA

TEST_CASE("a library copies and resizes on an instance: " KOKKOS_HOST_SPACES_TESTS_ORDER,
          "[order][cuda]") {
  Kokkos::View<int*, khs::PinnedSpace> host("host", n);
  for (int i = 0; i < n; ++i) host(i) = i;
  Kokkos::View<int*, Kokkos::CudaSpace> const device("device", n);
  Kokkos::Cuda const instance;
  ThirdParty::copy(instance, device, host);
  Kokkos::deep_copy(host, 0);
  ThirdParty::copy(instance, host, device);
  ThirdParty::grow(instance, host, n + 1);
  instance.fence();
  CHECK(host(n - 1) == n - 1);
  CHECK(host(n) == 0);
  auto const mirror =
      Kokkos::create_mirror_view_and_copy(Kokkos::view_alloc(khs::PinnedSpace(), instance), device);
  STATIC_CHECK(
      std::is_same_v<decltype(mirror), decltype(ThirdParty::mirror_and_copy(
                                           Kokkos::view_alloc(khs::PinnedSpace()), device)) const>);
}

TEST_CASE(
    "transposed copies are ours by ourselves, and by a library as it was "
    "included: " KOKKOS_HOST_SPACES_TESTS_ORDER,
    "[order][cuda]") {
  struct OfThisSource {};
  auto const by_ourselves = [](auto const& instance, auto const& dst, auto const& src) {
    Kokkos::deep_copy(instance, dst, src);
  };
  CHECK(is_transposed<khs::PinnedSpace>(by_ourselves));
  CHECK(is_transposed<khs::PinnedSpace>([](auto const& instance, auto const& dst, auto const& src) {
          ThirdParty::copy_for(OfThisSource(), instance, dst, src);
        }) == library_last);
  CHECK_FALSE(is_transposed<Kokkos::HostSpace>(by_ourselves));
}

#endif
