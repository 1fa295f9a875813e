// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Machine.hpp"

namespace KokkosHostSpaces::Perf {

char const* commit() { return KOKKOS_HOST_SPACES_COMMIT; }

Facts build_facts() {
#ifdef __OPTIMIZE__
  char const* const optimised = "yes";
#else
  char const* const optimised = "no";
#endif
  return {{"build_type", KOKKOS_HOST_SPACES_BUILD_TYPE},
          {"build_flags", KOKKOS_HOST_SPACES_BUILD_FLAGS},
          {"optimised", optimised}};
}

char const* version_text() {
  // CMake sets these, since programs without Kokkos show them, too.
  return "Kokkos Host Spaces " KOKKOS_HOST_SPACES_BUILT " (" KOKKOS_HOST_SPACES_COMMIT
         ")\nKokkos " KOKKOS_HOST_SPACES_BUILT_FOR "\nCUDA " KOKKOS_HOST_SPACES_BUILT_WITH
         "\ncompiler " KOKKOS_HOST_SPACES_BUILT_BY "\n";
}

}  // namespace KokkosHostSpaces::Perf
