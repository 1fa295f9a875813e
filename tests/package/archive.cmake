# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# How tools are had from archives, by a made-up one: what an interrupted run left is mended, and another
# archive than the pinned one, or none at all, is refused with words that help:
# cmake -D ROOT=<source folder> -D WORK=<folder> -D GENERATOR=<generator> -P archive.cmake

file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/toy-1.0/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(toy NONE)
install(FILES CMakeLists.txt DESTINATION include)
install(FILES toyConfig.cmake DESTINATION lib/cmake/toy)
]])
file(WRITE ${WORK}/toy-1.0/toyConfig.cmake "message(STATUS \"toy was found\")\n")
set(archive ${WORK}/archives/toy-1.0.tar.gz)
file(MAKE_DIRECTORY ${WORK}/archives)
execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${archive} toy-1.0
  WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
file(SHA256 ${archive} sha256)
file(CONFIGURE OUTPUT ${WORK}/project/CMakeLists.txt @ONLY CONTENT [[
cmake_minimum_required(VERSION 3.25)
project(user NONE)
include("@ROOT@/cmake/Archive.cmake")
khs_find_tool(toy "" toy-1.0 @sha256@ file:///nowhere/toy-1.0.tar.gz pool/main/n/nowhere/toy_1.0.orig.tar.gz)
]])

# Configures the project, which ends with an error or not, as `fails` says, and with these words.
function(configure fails words)
  execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK}/project -B ${WORK}/build
    -D KokkosHostSpaces_ARCHIVE_DIR=${WORK}/archives -D KokkosHostSpaces_TOOLS_DIR=${WORK}/tools
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake breaks lines
  if((code AND NOT fails) OR (fails AND NOT code) OR NOT output MATCHES "${words}")
    message(SEND_ERROR "not '${words}' (exit code ${code}): ${output}")
  endif()
endfunction()

configure(FALSE "Building toy-1.0 .*toy was found")
configure(FALSE "toy was found")

# Installed in part, then interrupted.
file(GLOB tool ${WORK}/tools/toy-1.0-*)
file(REMOVE_RECURSE ${tool}/lib ${tool}/complete ${WORK}/build)
configure(FALSE "Building toy-1.0 .*toy was found")

file(REMOVE_RECURSE ${WORK}/tools ${WORK}/build)
file(APPEND ${archive} "more")
configure(TRUE "toy-1.0.tar.gz is not the archive that was pinned .*: delete it, or replace it by the one from file")
file(REMOVE ${archive})
configure(TRUE "Cannot get toy-1.0.tar.gz .*all downloads failed.*Put the archive into that folder")
