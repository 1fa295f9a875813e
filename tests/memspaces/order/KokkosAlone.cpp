// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Of a program with this library, a source that does not include it.

#include "OrderCases.hpp"

TEST_CASE("a source of Kokkos alone copies and makes mirrors", "[order]") {
  Kokkos::View<int*, Kokkos::HostSpace> const host("host", n), other("other", n);
  for (int i = 0; i < n; ++i) host(i) = i;
  ThirdParty::copy(other, host);
  CHECK(other(n - 1) == n - 1);
  Kokkos::View<int*> const device("device", n);
  ThirdParty::copy(device, host);
  CHECK(ThirdParty::mirror_and_copy(Kokkos::HostSpace(), device)(n - 1) == n - 1);
}

#ifdef KOKKOS_ENABLE_CUDA

#ifdef KOKKOS_HOST_SPACES_EVERYWHERE
constexpr bool ours = true;
#else
constexpr bool ours = false;
#endif

TEST_CASE("a source of Kokkos alone has Kokkos' copies of pageable memory, unless all ask for ours",
          "[order][cuda]") {
  CHECK(is_transposed<Kokkos::HostSpace>(by_kokkos) == ours);
}

#endif
