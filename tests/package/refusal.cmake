# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Makes a package that says it is a Kokkos of some version with some devices, and configures a project
# with it, which must be refused with these words (which may be those of a configuration by another Kokkos):
# cmake -D VERSION=<version> -D DEVICES=<list> -D WORK=<folder> -D WORDS=<regex> -P refusal.cmake
#   -- <argument for the configuration>...
#
# With -D MADE_OF=<build folder of Kokkos> -D PYTHON=<python3> -D CHANGES=<options> it is that Kokkos, changed by
# next_kokkos.py.

set(kokkos ${WORK}/kokkos)
set(arguments)
foreach(i RANGE 1 ${CMAKE_ARGC})
  if(DEFINED is_argument)
    list(APPEND arguments "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(is_argument ON)
  endif()
endforeach()

file(REMOVE_RECURSE ${WORK})
if(MADE_OF)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${MADE_OF} --prefix ${kokkos}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/../kokkos/next_kokkos.py ${kokkos} --version ${VERSION} ${CHANGES}
    COMMAND_ERROR_IS_FATAL ANY)
else()
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${kokkos}/KokkosConfigVersion.cmake VERSION ${VERSION} COMPATIBILITY AnyNewerVersion)
  file(WRITE ${kokkos}/KokkosConfigCommon.cmake "set(Kokkos_DEVICES ${DEVICES})\n")
  file(WRITE ${kokkos}/KokkosConfig.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/KokkosConfigCommon.cmake)\n")
endif()

execute_process(
  COMMAND ${CMAKE_COMMAND} -B ${WORK}/build -D Kokkos_ROOT=${kokkos} ${arguments}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " words "${output}")  # CMake breaks lines
if((code EQUAL 0 AND NOT WORDS MATCHES "Configuring done") OR NOT words MATCHES "${WORDS}")
  message(FATAL_ERROR "not refused with the words '${WORDS}' (exit code ${code}):\n${output}")
endif()
