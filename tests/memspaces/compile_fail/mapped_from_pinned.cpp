// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Must not compile: a PinnedSpace View would become accessible to kernels.

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;

void f(Kokkos::View<int*, khs::PinnedSpace> const& pinned) {
  Kokkos::View<int*, khs::MappedSpace> const mapped = pinned;
  (void)mapped;
}
