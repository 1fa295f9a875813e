// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Must not compile: the destination must be writable.

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;

void f(Kokkos::View<int const*, khs::PinnedSpace> const& dst,
       Kokkos::View<int*, khs::PinnedSpace> const& src) {
  Kokkos::deep_copy(dst, src);
}
