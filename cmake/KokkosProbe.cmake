# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# A Kokkos whose minor release was not tested is taken if all forms of call that are this library's reach it: overloads
# that Kokkos does not call any more would be lost in silence. Configuring stops if one is lost.

include(${CMAKE_CURRENT_LIST_DIR}/probe/Reached.cmake)
list(JOIN _khs_tested_kokkos " or " _khs_tested)

# Runs a command of the probe, or stops, telling what it printed.
function(_khs_run_probe what log)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_FILE ${log} ERROR_FILE ${log})
  if(NOT code EQUAL 0)
    file(STRINGS ${log} lines REGEX "[Ee]rror" LIMIT_COUNT 5)
    list(JOIN lines "\n  " lines)
    message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} was not tested with this library, and ${what} (all of it is in "
      "${log}):\n  ${lines}\nInstall Kokkos ${_khs_tested}, or a newer release of this library.")
  endif()
endfunction()

# Compiles the forms for the Kokkos of this build, unless that was done before.
function(khs_probe_kokkos)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  file(GLOB_RECURSE sources ${root}/probe/* ${PROJECT_SOURCE_DIR}/memspaces/include/*Glue.hpp)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/memspaces/include/KokkosHostSpaces/impl/copy/CopyOverloads.hpp
    ${PROJECT_SOURCE_DIR}/memspaces/include/KokkosHostSpaces/impl/spaces/Mirrors.hpp
    ${PROJECT_SOURCE_DIR}/memspaces/include/KokkosHostSpaces/impl/spaces/ResizeOverloads.hpp)
  set(of_what "${Kokkos_VERSION};${Kokkos_DEVICES};${Kokkos_DIR};${CMAKE_CXX_COMPILER};${CMAKE_CXX_COMPILER_VERSION}")
  # Of a branch of Kokkos there are many with one version.
  get_target_property(folders Kokkos::kokkoscore INTERFACE_INCLUDE_DIRECTORIES)
  foreach(folder IN LISTS folders)
    string(REGEX REPLACE "^[$]<BUILD_INTERFACE:(.*)>$" "\\1" folder "${folder}")
    file(GLOB headers ${folder}/Kokkos_*.hpp ${folder}/impl/Kokkos_*.hpp ${folder}/View/*.hpp ${folder}/KokkosCore_config.h)
    list(APPEND sources ${headers})
  endforeach()
  foreach(source IN LISTS sources)
    file(SHA256 ${source} hash)
    string(APPEND of_what ";${hash}")
  endforeach()
  string(SHA256 of_what "${of_what}")
  if(_khs_probed STREQUAL of_what)
    return()
  endif()

  message(STATUS "Looking which calls of Kokkos ${Kokkos_VERSION} reach this library")
  set(build ${PROJECT_BINARY_DIR}/kokkos_probe)
  file(REMOVE_RECURSE ${build})
  set(cache "set(INCLUDE [[${PROJECT_SOURCE_DIR}/memspaces/include;${PROJECT_BINARY_DIR}/include]] CACHE STRING \"\")\n")
  set(names CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS CMAKE_CXX_STANDARD CMAKE_CUDA_ARCHITECTURES CMAKE_CUDA_COMPILER
    CMAKE_CUDA_HOST_COMPILER CMAKE_MAKE_PROGRAM CMAKE_PREFIX_PATH CMAKE_TOOLCHAIN_FILE CUDAToolkit_ROOT Kokkos_DIR)
  if(NOT _khs_imported)
    get_target_property(kokkos Kokkos::kokkoscore SOURCE_DIR)
    cmake_path(SET KOKKOS_SOURCE NORMALIZE ${kokkos}/../..)
    get_cmake_property(variables CACHE_VARIABLES)
    list(FILTER variables INCLUDE REGEX "^Kokkos_(ENABLE|ARCH)_")
    list(APPEND names KOKKOS_SOURCE ${variables})
    list(REMOVE_ITEM names Kokkos_DIR)
  endif()
  foreach(name IN LISTS names)
    if(NOT "${${name}}" STREQUAL "")
      string(APPEND cache "set(${name} [[${${name}}]] CACHE STRING \"\")\n")
    endif()
  endforeach()
  file(WRITE ${build}/cache.cmake "${cache}")
  _khs_run_probe("the probe of it cannot be configured" ${build}/configure.log
    ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -C ${build}/cache.cmake -S ${root}/probe -B ${build})
  _khs_run_probe("the headers do not compile with it" ${build}/build.log
    ${CMAKE_COMMAND} --build ${build} --target forms)

  file(READ ${build}/object object)
  khs_forms_reached(${object} forms lost)
  if(lost OR NOT forms)
    list(TRANSFORM lost REPLACE "^(any|first)_" "")
    list(JOIN lost ", " lost)
    message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} does not call this library for: ${lost} (forms of call in "
      "${root}/probe/Forms.cpp; Kokkos has changed, and would do it in its own way). Install Kokkos "
      "${_khs_tested}, with which it was tested, or a newer release of this library.")
  endif()
  set(_khs_probed ${of_what} CACHE INTERNAL "What was compiled for a Kokkos that was not tested")
endfunction()
