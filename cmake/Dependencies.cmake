# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# What the project needs: what is installed if it fits, else a pinned archive, built along with us.

include(Archive)

# GLOBAL, so that a project which adds this one as a subdirectory can link to it.
find_package(Threads REQUIRED GLOBAL)
if(KokkosHostSpaces_ENABLE_HWLOC OR KokkosHostSpaces_ENABLE_PERF)  # the benchmarks bind ranks by it
  find_package(hwloc 2.7 REQUIRED GLOBAL)
endif()
if(NOT KokkosHostSpaces_ENABLE_HWLOC)
  message(STATUS "No hwloc: memory is not placed on the NUMA node nearest to the GPU")
endif()

if(KokkosHostSpaces_ENABLE_TESTS)
  find_package(Catch2 3.4 CONFIG QUIET)
  if(NOT TARGET Catch2::Catch2WithMain)
    set(CMAKE_UNITY_BUILD ON)  # builds twice as fast
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
    khs_add_archive(
      EXCLUDE_FROM_ALL
      ARCHIVE Catch2-3.7.1
      SHA256 c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c
      UPSTREAM https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
      DEBIAN_POOL pool/main/c/catch2/catch2_3.7.1.orig.tar.gz)
    unset(CMAKE_UNITY_BUILD)
    unset(CMAKE_UNITY_BUILD_BATCH_SIZE)
    list(APPEND CMAKE_MODULE_PATH ${Catch2-3.7.1_SOURCE_DIR}/extras)
  endif()
  include(Catch)  # catch_discover_tests
endif()

if(KokkosHostSpaces_ENABLE_PERF)
  find_package(benchmark 1.8 CONFIG QUIET)
  if(NOT TARGET benchmark::benchmark)
    set(BENCHMARK_ENABLE_TESTING OFF)
    set(BENCHMARK_ENABLE_INSTALL OFF)
    set(BENCHMARK_ENABLE_WERROR OFF)
    khs_add_archive(
      EXCLUDE_FROM_ALL
      ARCHIVE benchmark-1.9.1
      SHA256 32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981
      UPSTREAM https://github.com/google/benchmark/archive/refs/tags/v1.9.1.tar.gz
      DEBIAN_POOL pool/main/b/benchmark/benchmark_1.9.1.orig.tar.gz)
  endif()
endif()

# For what can run on several processes.
if(KokkosHostSpaces_ENABLE_EXAMPLES OR KokkosHostSpaces_ENABLE_PERF)
  if(NOT DEFINED KokkosHostSpaces_ENABLE_MPI)
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
  option(KokkosHostSpaces_ENABLE_MPI "Examples and benchmarks run on several processes" ${MPI_CXX_FOUND})
  if(KokkosHostSpaces_ENABLE_MPI)
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
endif()

# From here on all is sanitized, Kokkos too: what a sanitizer does not see of the synchronisation
# between threads, it reports as a race.
include(Sanitize)
include(Kokkos)
if(KokkosHostSpaces_ENABLE_CUDA)
  find_package(CUDAToolkit 12.2 REQUIRED GLOBAL)
endif()
