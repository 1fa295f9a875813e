// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Must not compile: host code would read write-combined memory without knowing.

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;

void f(Kokkos::View<int*, khs::WriteCombinedSpace> const& combined) {
  Kokkos::View<int*, Kokkos::HostSpace> const host = combined;
  (void)host;
}
