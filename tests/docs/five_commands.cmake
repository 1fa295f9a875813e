# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Runs the commands by which README.md leads a new user to a program of their own, as they stand there, on
# a clone of what is committed:
# cmake -D ROOT=<source folder> -D BUILD=<build folder> -D WORK=<folder> -D KOKKOS=<Kokkos_DIR> -P five_commands.cmake

cmake_minimum_required(VERSION 3.25)

find_program(git git)
if(NOT EXISTS ${ROOT}/.git OR NOT git)
  message("Skipped: ${ROOT} is no clone, or there is no git")
  return()
endif()
file(READ ${ROOT}/README.md readme)
string(REGEX MATCH "in five commands\n.*\n```sh\n(git clone [^`]*)```\n" readme "${readme}")
set(commands "${CMAKE_MATCH_1}")
if(NOT commands MATCHES "^git clone <this repository> .*build/consumer\n$")
  message(FATAL_ERROR "README.md does not have the commands that this test expects, but:\n${commands}")
endif()

string(REPLACE "<this repository>" "'${ROOT}'" commands "${commands}")

# Kokkos comes with what is installed from this build, if it was built along. The library itself must not.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
if(NOT EXISTS ${KOKKOS}/KokkosConfig.cmake)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/kokkos
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE KOKKOS ${WORK}/kokkos/KokkosConfig.cmake)
  cmake_path(GET KOKKOS PARENT_PATH KOKKOS)
  file(GLOB library ${WORK}/kokkos/lib*/cmake/KokkosHostSpaces)
  file(REMOVE_RECURSE ${library})
endif()
# It is named once, in the second command; the fourth one finds it by the library. The library to preload is left out:
# its package's tests build it.
string(REPLACE " -B build " " -B build '-DKokkos_ROOT=${KOKKOS}' -DKokkosHostSpaces_ENABLE_ADOPT=OFF "
  commands "${commands}")
set(ENV{CMAKE_BUILD_TYPE} None)  # neither optimised nor with notes for debuggers: builds faster
execute_process(COMMAND sh -e -x -c "${commands}" WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)

# Not another one that happens to be installed.
file(STRINGS ${WORK}/my_build/CMakeCache.txt used REGEX "^KokkosHostSpaces_DIR:" ENCODING UTF-8)
string(FIND "${used}" "=${WORK}/khs/" found)
if(found EQUAL -1)
  message(FATAL_ERROR "the program was not built with what was installed: ${used}")
endif()

# As perf/tools/audit/README.md says, for any program and from where it was installed.
file(GLOB audit ${WORK}/khs/lib*/libkokkos_host_spaces_audit.so)
execute_process(COMMAND ${CMAKE_COMMAND} -E env KOKKOS_TOOLS_LIBS=${audit} ${WORK}/my_build/consumer
  OUTPUT_QUIET ERROR_VARIABLE told COMMAND_ERROR_IS_FATAL ANY)
if(NOT told MATCHES "Kokkos copy audit, ")
  message(FATAL_ERROR "the installed audit ('${audit}') told nothing: ${told}")
endif()
