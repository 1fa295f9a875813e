# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# For a Kokkos that was built with Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE, nvcc is not called behind
# CMake's back: sources that use Kokkos have to be in the language CUDA. Marks those of all targets of
# the project that link to it, so it is included last.

get_property(_khs_targets GLOBAL PROPERTY _khs_targets)
foreach(target IN LISTS _khs_targets)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(NOT libraries MATCHES "Kokkos::kokkos|KokkosHostSpaces::(hostspaces|everywhere)")
    continue()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CUDA)
  endforeach()
  set_target_properties(${target} PROPERTIES
    CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
    CUDA_ARCHITECTURES "${Kokkos_CUDA_ARCHITECTURES}")
endforeach()
