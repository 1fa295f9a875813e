# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# What the project needs: what is installed if it fits, else a pinned archive.

include(Archive)

# GLOBAL, so that a project which adds this one as a subdirectory can link to it.
find_package(Threads REQUIRED GLOBAL)
if(KokkosHostSpaces_ENABLE_HWLOC OR KokkosHostSpaces_ENABLE_PERF)  # the benchmarks bind ranks by it
  find_package(hwloc 2.7 REQUIRED GLOBAL)
endif()
if(KokkosHostSpaces_ENABLE_KOKKOS AND NOT KokkosHostSpaces_ENABLE_HWLOC)
  message(STATUS "No hwloc: memory is not placed on the NUMA node nearest to the GPU")
endif()

if(KokkosHostSpaces_ENABLE_TESTS)
  khs_find_tool(Catch2 3.4 Catch2-3.7.1
    c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c
    https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
    pool/main/c/catch2/catch2_3.7.1.orig.tar.gz)
  include(Catch)  # catch_discover_tests
endif()
if(KokkosHostSpaces_ENABLE_PERF)
  khs_find_tool(benchmark 1.8 benchmark-1.9.1
    32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981
    https://github.com/google/benchmark/archive/refs/tags/v1.9.1.tar.gz
    pool/main/b/benchmark/benchmark_1.9.1.orig.tar.gz)
endif()

# For the target KokkosHostSpaces::mpi, and for what can run on several processes. The library itself needs no MPI.
if(KokkosHostSpaces_ENABLE_EXAMPLES OR KokkosHostSpaces_ENABLE_PERF OR KokkosHostSpaces_ENABLE_TESTS OR KokkosHostSpaces_ENABLE_MPI)
  if(NOT DEFINED KokkosHostSpaces_ENABLE_MPI)
    # Not cached: an MPI that is installed later is found by the next configuration.
    find_package(MPI QUIET GLOBAL COMPONENTS CXX)
    set(KokkosHostSpaces_ENABLE_MPI ${MPI_CXX_FOUND})
  elseif(KokkosHostSpaces_ENABLE_MPI)
    find_package(MPI REQUIRED GLOBAL COMPONENTS CXX)
  endif()
endif()

# From here on all is sanitized, Kokkos too: what a sanitizer does not see of the synchronisation
# between threads, it reports as a race.
set(KokkosHostSpaces_SANITIZE "" CACHE STRING
  "Sanitizer: address (with undefined), undefined, thread, fuzzer (both, and the programs of tests/fuzz; Clang), or empty")
set_property(CACHE KokkosHostSpaces_SANITIZE PROPERTY STRINGS "" address undefined thread fuzzer)

if(KokkosHostSpaces_SANITIZE)
  string(REPLACE "address" "address,undefined" _khs_sanitize ${KokkosHostSpaces_SANITIZE})
  set(_khs_optimisation -O0)
  if(KokkosHostSpaces_SANITIZE STREQUAL "thread")
    set(_khs_optimisation -O1)  # as quick to build, and tests take a sixth less time
  endif()
  if(KokkosHostSpaces_SANITIZE STREQUAL "fuzzer")
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      message(FATAL_ERROR "KokkosHostSpaces_SANITIZE=fuzzer needs Clang: set CMAKE_CXX_COMPILER to clang++")
    endif()
    set(_khs_sanitize address,undefined,fuzzer-no-link)
    set(_khs_optimisation -O1)
  endif()
  # Hardly any optimisation and only line numbers: quick to build, and the reports stay readable.
  add_compile_options(-fsanitize=${_khs_sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer ${_khs_optimisation} -g1)
  add_link_options(-fsanitize=${_khs_sanitize})
  if(KokkosHostSpaces_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # warns of every fence in Kokkos' atomics
  endif()
endif()

if(KokkosHostSpaces_ENABLE_KOKKOS)
  include(Kokkos)
endif()
if(KokkosHostSpaces_ENABLE_CUDA)
  find_package(CUDAToolkit 12.2 REQUIRED GLOBAL)
endif()

# Of CUDA it needs the headers alone, and it is built in seconds; not by nvcc, which takes its operators new and delete
# for functions of the device. Some systems lack the static libstdc++.
set(_khs_adopt OFF)
if(KokkosHostSpaces_ENABLE_ADOPT OR (NOT DEFINED KokkosHostSpaces_ENABLE_ADOPT AND PROJECT_IS_TOP_LEVEL
    AND CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$"
    AND NOT KokkosHostSpaces_SANITIZE AND NOT CMAKE_CXX_COMPILER MATCHES nvcc))
  find_package(CUDAToolkit 12.2 QUIET)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
  check_cxx_source_compiles("#include <string>\nint main(int, char** v) { return __GLIBC__ + __GLIBCXX__ > 0 && std::string(*v).empty(); }"
    KokkosHostSpaces_HAS_STATIC_LIBSTDCXX)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(CUDAToolkit_FOUND AND KokkosHostSpaces_HAS_STATIC_LIBSTDCXX)
    set(_khs_adopt ON)
  endif()
endif()
option(KokkosHostSpaces_ENABLE_ADOPT
  "Build kokkos_host_spaces_run and the library that it preloads into programs, which needs CUDA's headers" ${_khs_adopt})
# The headers alone: tests link the driver of CUDA to a runtime without a GPU.
if(KokkosHostSpaces_ENABLE_TESTS OR KokkosHostSpaces_ENABLE_ADOPT)
  find_package(CUDAToolkit 12.2 QUIET)
endif()
