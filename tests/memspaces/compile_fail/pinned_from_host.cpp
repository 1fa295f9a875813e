// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Must not compile: pageable memory would pass for page-locked.

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;

void f(Kokkos::View<int*, Kokkos::HostSpace> const& host) {
  Kokkos::View<int*, khs::PinnedSpace> const pinned = host;
  (void)pinned;
}
