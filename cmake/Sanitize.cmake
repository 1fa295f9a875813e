# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Sanitizers, for all that is added to the build from here on.

set(KokkosHostSpaces_SANITIZE "" CACHE STRING "Sanitizer: address (with undefined), undefined, thread, or empty")
set_property(CACHE KokkosHostSpaces_SANITIZE PROPERTY STRINGS "" address undefined thread)

if(KokkosHostSpaces_SANITIZE)
  string(REPLACE "address" "address,undefined" _khs_sanitize ${KokkosHostSpaces_SANITIZE})
  # No optimisation and only line numbers: quick to build, and the reports stay readable.
  add_compile_options(-fsanitize=${_khs_sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer -O0 -g1)
  add_link_options(-fsanitize=${_khs_sanitize})
  if(KokkosHostSpaces_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # warns of every fence in Kokkos' atomics
  endif()
endif()
