# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Kokkos' headers take most of the time that a small source takes: they are precompiled, once for tests, and once for
# examples and benchmarks, which have other flags, and for what has no run-time type information. Headers of this library
# are not, and these targets are left out: what sees whether a header compiles alone, or in which order headers come, and
# what has flags of its own. Included last, since it looks at all targets.

# Caches of compilers do not know precompiled headers.
if(CMAKE_CXX_COMPILER_LAUNCHER OR KokkosHostSpaces_ENABLE_CUDA OR _khs_stock_device OR NOT KokkosHostSpaces_UNITY_BUILD)
  return()
endif()

khs_precompile_kokkos(khs_precompiled_for_programs)
get_property(_khs_targets GLOBAL PROPERTY _khs_targets)
foreach(target IN LISTS _khs_targets)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(folder ${target} SOURCE_DIR)
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT "${libraries}" MATCHES "Kokkos::kokkos|KokkosHostSpaces::(hostspaces|mpi)" OR "${options}" MATCHES "-O[1-3]"
      OR NOT "${folder}/${target}" MATCHES "^(tests|examples|perf)/"
      OR "${folder}/${target}" MATCHES "/(order/.*|headers_alone|link_fail_.*|khs_precompiled_.*)$")
    continue()
  endif()
  if("${options}" MATCHES "-fno-rtti")
    target_precompile_headers(${target} PRIVATE <Kokkos_Core.hpp>)
    continue()
  endif()
  set(group khs_precompiled_for_programs)
  if(folder MATCHES "^tests")
    set(group khs_precompiled_for_tests)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${group})
endforeach()
