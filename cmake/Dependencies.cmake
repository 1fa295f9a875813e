# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# What the project needs: what is installed if it fits, else a pinned archive, built along with us.

include(Archive)

find_package(Threads REQUIRED)
if(KokkosHostSpaces_ENABLE_HWLOC)
  find_package(hwloc 2.7 REQUIRED)
else()
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

# From here on all is sanitized, Kokkos too: what a sanitizer does not see of the synchronisation
# between threads, it reports as a race.
include(Sanitize)
include(Kokkos)
if(KokkosHostSpaces_ENABLE_CUDA)
  find_package(CUDAToolkit 12.2 REQUIRED)
endif()
