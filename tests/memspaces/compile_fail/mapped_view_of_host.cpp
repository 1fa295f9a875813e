// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Must not compile: only PinnedSpace Views have a mapped address.

#include <KokkosHostSpaces.hpp>

namespace khs = KokkosHostSpaces;

void f(Kokkos::View<int*, Kokkos::HostSpace> const& host) { (void)khs::mapped_view(host); }
