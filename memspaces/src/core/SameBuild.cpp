// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/SameBuild.hpp>

namespace KokkosHostSpaces::Impl {

char const KOKKOS_HOST_SPACES_IMPL_CONTAINERS = 0;
char const KOKKOS_HOST_SPACES_IMPL_STRINGS    = 0;

}  // namespace KokkosHostSpaces::Impl
