// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Must not compile: registered memory is never write-combined.

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;

void f(khs::Registration const& registration) {
  (void)registration.view<int*, khs::WriteCombinedSpace>(10);
}
