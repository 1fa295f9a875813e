// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Includes nothing of this library, and has all of it, before anything else: the target
// KokkosHostSpaces::everywhere.

#include "OrderCases.hpp"

#ifndef KOKKOS_HOST_SPACES_HPP
#error "this library is not there"
#endif

namespace khs = KokkosHostSpaces;

TEST_CASE("a source has the spaces without an include", "[order]") {
  Kokkos::View<int*, khs::PinnedSpace> const host("host", n);
  host(n - 1)       = 7;
  auto const mirror = ThirdParty::mirror_and_copy(khs::MappedSpace(), host);
  CHECK(mirror(n - 1) == 7);
}

#ifdef KOKKOS_ENABLE_CUDA

TEST_CASE("transposed copies by a library are ours in all sources", "[order][cuda]") {
  auto const by_library = [](auto const& instance, auto const& dst, auto const& src) {
    ThirdParty::copy(instance, dst, src);
  };
  CHECK(is_transposed<khs::PinnedSpace>(by_kokkos));
  CHECK(is_transposed<khs::PinnedSpace>(by_library));
  CHECK(is_transposed<Kokkos::HostSpace>(by_library));
}

#endif
