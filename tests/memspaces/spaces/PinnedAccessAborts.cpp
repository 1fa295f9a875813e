// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A kernel that touches a PinnedSpace View must be stopped by Kokkos. Run by ctest in a process of its
// own, and only if asked for; ctest looks for Kokkos' message.

#include <KokkosHostSpaces.hpp>

#include <csignal>
#include <cstdlib>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("a kernel that touches a View in PinnedSpace is stopped", "[.][pinned_access_aborts]") {
  // Kokkos aborts; ctest would look at the signal and not at the message.
  std::signal(SIGABRT, [](int) { std::_Exit(1); });
  Kokkos::View<int*, KokkosHostSpaces::PinnedSpace> const pinned("pinned", 10);
  Kokkos::parallel_for(
      "touch", 10, KOKKOS_LAMBDA(int i) { pinned(i) = i; });
  Kokkos::fence();
}
