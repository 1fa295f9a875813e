# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Chooses the Kokkos: the first installed one whose version fits and which has CUDA, or has not, as
# KokkosHostSpaces_ENABLE_CUDA says (if that is not set, either will do); else the pinned archive.
# Then KokkosHostSpaces_ENABLE_CUDA tells what the chosen Kokkos has.

set(_khs_explicit_kokkos ${Kokkos_ROOT} $ENV{Kokkos_ROOT} ${Kokkos_DIR})
if(NOT TARGET Kokkos::kokkos)
  # Asked for a version that nobody has, find_package loads nothing and lists what there is.
  find_package(Kokkos 999 CONFIG QUIET)
  set(_khs_refused)
  foreach(config version IN ZIP_LISTS Kokkos_CONSIDERED_CONFIGS Kokkos_CONSIDERED_VERSIONS)
    cmake_path(GET config PARENT_PATH folder)
    file(STRINGS ${folder}/KokkosConfigCommon.cmake devices REGEX "^set\\(Kokkos_DEVICES ")
    if(devices MATCHES "CUDA")
      set(cuda ON)
    else()
      set(cuda OFF)
    endif()
    if(version VERSION_LESS 5.0 OR version VERSION_GREATER_EQUAL 5.3)
      list(APPEND _khs_refused "${folder}: version ${version}, 5.0 to 5.2 are supported")
    elseif(DEFINED KokkosHostSpaces_ENABLE_CUDA AND cuda AND NOT KokkosHostSpaces_ENABLE_CUDA)
      list(APPEND _khs_refused "${folder}: has CUDA, and KokkosHostSpaces_ENABLE_CUDA is OFF")
    elseif(KokkosHostSpaces_ENABLE_CUDA AND NOT cuda)
      list(APPEND _khs_refused "${folder}: has no CUDA, and KokkosHostSpaces_ENABLE_CUDA is ON")
    else()
      set(Kokkos_DIR ${folder} CACHE PATH "Folder of KokkosConfig.cmake" FORCE)
      find_package(Kokkos CONFIG REQUIRED)
      break()
    endif()
  endforeach()
  foreach(reason IN LISTS _khs_refused)
    message(STATUS "Passed over the Kokkos in ${reason}")
  endforeach()
  if(_khs_explicit_kokkos AND _khs_refused AND NOT TARGET Kokkos::kokkos)
    message(FATAL_ERROR "The Kokkos named by Kokkos_ROOT or Kokkos_DIR cannot be used (see above): name another, "
                        "or none to build the pinned one")
  endif()
endif()

if(NOT TARGET Kokkos::kokkos)
  # ThreadSanitizer does not understand the synchronisation inside GNU's OpenMP library.
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(OpenMP_CXX_FOUND AND NOT KokkosHostSpaces_SANITIZE STREQUAL "thread")
    option(Kokkos_ENABLE_OPENMP "Kokkos with OpenMP" ON)
  endif()
  option(Kokkos_ENABLE_SERIAL "Kokkos with Serial" ON)
  option(Kokkos_ENABLE_HWLOC "Kokkos with hwloc" ${KokkosHostSpaces_ENABLE_HWLOC})
  if(DEFINED KokkosHostSpaces_ENABLE_CUDA)
    set(Kokkos_ENABLE_CUDA ${KokkosHostSpaces_ENABLE_CUDA} CACHE BOOL "Kokkos with CUDA" FORCE)
  endif()
  khs_add_archive(
    ARCHIVE kokkos-5.0.2
    SHA256 188817bb452ca805ee8701f1c5adbbb4fb83dc8d1c50624566a18a719ba0fa5e
    UPSTREAM https://github.com/kokkos/kokkos/releases/download/5.0.2/kokkos-5.0.2.tar.gz
    DEBIAN_POOL pool/main/k/kokkos/kokkos_5.0.2.orig.tar.gz)
  set(Kokkos_VERSION 5.0.2)
endif()

foreach(device HIP SYCL OPENMPTARGET OPENACC)
  if(Kokkos_ENABLE_${device})
    message(FATAL_ERROR "Kokkos has the device ${device} (only CUDA devices are supported): use a Kokkos "
                        "with CUDA, or one without a device")
  endif()
endforeach()
if(Kokkos_ENABLE_CUDA)
  set(KokkosHostSpaces_ENABLE_CUDA ON)
else()
  set(KokkosHostSpaces_ENABLE_CUDA OFF)
endif()
message(STATUS "Kokkos ${Kokkos_VERSION}, CUDA: ${KokkosHostSpaces_ENABLE_CUDA}")
