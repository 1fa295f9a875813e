// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Version.hpp"

namespace KokkosHostSpaces::Perf {

char const* commit() { return KOKKOS_HOST_SPACES_COMMIT; }

char const* version_text() {
  // As CMake knows them: one text for programs with Kokkos and without.
  return "Kokkos Host Spaces " KOKKOS_HOST_SPACES_BUILT " (" KOKKOS_HOST_SPACES_COMMIT
         ")\nKokkos " KOKKOS_HOST_SPACES_BUILT_FOR "\nCUDA " KOKKOS_HOST_SPACES_BUILT_WITH
         "\ncompiler " KOKKOS_HOST_SPACES_BUILT_BY "\n";
}

}  // namespace KokkosHostSpaces::Perf
