// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A kernel that touches a PinnedSpace View must be stopped by Kokkos. Run by ctest, which looks for
// its message.

#include <KokkosHostSpaces.hpp>

#include <csignal>
#include <cstdlib>

int main(int argc, char* argv[]) {
  // Kokkos aborts; ctest would look at the signal and not at the message.
  std::signal(SIGABRT, [](int) { std::_Exit(1); });
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::View<int*, KokkosHostSpaces::PinnedSpace> const pinned("pinned", 10);
  Kokkos::parallel_for(
      "touch", 10, KOKKOS_LAMBDA(int i) { pinned(i) = i; });
  Kokkos::fence();
  return 0;
}
