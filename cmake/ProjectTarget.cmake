# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

option(KokkosHostSpaces_WARNINGS_AS_ERRORS "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})

# 1 where Kokkos has the sources of the target compiled by nvcc: it marks those that depend on it.
set(_khs_by_nvcc 0)
if(KokkosHostSpaces_ENABLE_CUDA)
  set(_khs_by_nvcc $<IN_LIST:KOKKOS_DEPENDENCE,$<TARGET_PROPERTY:COMPILE_DEFINITIONS>>)
endif()

# khs_project_target(<target>): how we compile what is ours. Nothing of it is exported.
function(khs_project_target target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_EXTENSIONS OFF)
  # What nvcc generates for the host compiler converts freely, and Kokkos' wrapper drops -Wpedantic.
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow
    $<$<NOT:${_khs_by_nvcc}>:-Wpedantic$<SEMICOLON>-Wconversion>
    $<$<BOOL:${KokkosHostSpaces_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()

# khs_project_test(<name> <target> [<argument>...]): a test that runs an executable which uses Kokkos.
# Where Kokkos has CUDA it needs a GPU: it gets the label gpu, and is skipped, and reported as such,
# on a machine that has no driver (the loader's words) or no device (the driver's words).
function(khs_project_test name target)
  add_test(NAME ${name} COMMAND ${target} ${ARGN})
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 4                # that of Catch2
    ENVIRONMENT OMP_PROC_BIND=false)  # else Kokkos warns, and tests that share cores are slow
  if(KokkosHostSpaces_ENABLE_CUDA)
    set_tests_properties(${name} PROPERTIES LABELS gpu SKIP_REGULAR_EXPRESSION
      "libcuda.so.1: cannot open shared object file;no CUDA-capable device is detected")
  endif()
endfunction()
