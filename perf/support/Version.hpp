// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_VERSION_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_VERSION_HPP

namespace KokkosHostSpaces::Perf {

/// The commit that this program was built from, if git knew it.
char const* commit();

/// Versions of library, Kokkos, CUDA and compiler, a line each.
char const* version_text();

}  // namespace KokkosHostSpaces::Perf

#endif
