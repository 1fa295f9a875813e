# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Source archives with a known SHA-256: found in a folder, or downloaded to it, then built.

set(KokkosHostSpaces_ARCHIVE_DIR ${PROJECT_BINARY_DIR}/archives CACHE PATH
    "Folder of source archives of dependencies: looked into first, downloads are kept there")
set(KokkosHostSpaces_TOOLS_DIR ${PROJECT_BINARY_DIR}/_deps CACHE PATH
    "Folder in which what only tests and benchmarks need is built: once for all builds that name it")

# Tries to download `url` to `file`; sets `error` to the reason where that fails.
function(_khs_download url file sha256 error)
  message(STATUS "  from ${url}")
  file(DOWNLOAD ${url} ${file} STATUS status TIMEOUT 30)
  list(POP_FRONT status code)
  if(code EQUAL 0)
    file(SHA256 ${file} actual)
    if(actual STREQUAL sha256)
      return()
    endif()
    set(status "SHA-256 is ${actual}, not ${sha256}")
  endif()
  file(REMOVE ${file})
  set(${error} "${url}: ${status}" PARENT_SCOPE)
endfunction()

# The same by apt's own downloader, which knows the mirror and the proxy that this machine uses. It would wait minutes for
# a network that does not answer.
function(_khs_download_with_apt url file sha256 error)
  message(STATUS "  from ${url} (the mirror of apt)")
  execute_process(
    COMMAND /usr/lib/apt/apt-helper -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10
      -o APT::Sandbox::User=root download-file ${url} ${file} SHA256:${sha256}
    RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE message)
  if(NOT code EQUAL 0)
    file(REMOVE ${file})
    string(STRIP "${message}" message)
    set(${error} "${url}: ${message}" PARENT_SCOPE)
  endif()
endfunction()

# The sites of the package mirrors that apt is configured for; empty on other systems.
function(_khs_apt_sites result)
  set(sites)
  if(EXISTS /usr/lib/apt/apt-helper)
    execute_process(COMMAND apt-get indextargets --format "$(SITE)" OUTPUT_VARIABLE sites ERROR_QUIET)
    string(REGEX MATCHALL "[^\n]+" sites "${sites}")
    list(REMOVE_DUPLICATES sites)
  endif()
  set(${result} ${sites} PARENT_SCOPE)
endfunction()

# Makes sure that ${KokkosHostSpaces_ARCHIVE_DIR}/<archive>.tar.gz is there, and is the right one.
function(_khs_fetch archive sha256 upstream debian_pool)
  set(file ${KokkosHostSpaces_ARCHIVE_DIR}/${archive}.tar.gz)
  set(tried)
  if(EXISTS ${file})
    file(SHA256 ${file} actual)
    if(actual STREQUAL sha256)
      message(STATUS "Using ${file}")
      return()
    endif()
    message(FATAL_ERROR "${file} is not the archive that was pinned (SHA-256 is ${actual}, not ${sha256}): "
                        "delete it, or replace it by the one from ${upstream}")
  endif()

  message(STATUS "Getting ${archive}.tar.gz")
  file(MAKE_DIRECTORY ${KokkosHostSpaces_ARCHIVE_DIR})
  _khs_apt_sites(sites)
  list(TRANSFORM sites APPEND /${debian_pool})
  # Upstream comes last if an archive could not be had there before: that takes up to half a minute.
  string(REGEX MATCH "^[a-z]+://[^/]*" host ${upstream})
  get_property(silent GLOBAL PROPERTY _khs_silent_hosts)
  set(urls ${upstream} ${sites})
  if(host IN_LIST silent)
    set(urls ${sites} ${upstream})
  endif()
  foreach(url IN LISTS urls)
    set(error)
    if(url STREQUAL upstream)
      _khs_download(${url} ${file}.part ${sha256} error)
    else()
      _khs_download_with_apt(${url} ${file}.part ${sha256} error)
    endif()
    if(NOT error)
      break()
    endif()
    list(APPEND tried ${error})
    if(url STREQUAL upstream)
      set_property(GLOBAL APPEND PROPERTY _khs_silent_hosts ${host})
    endif()
  endforeach()
  if(NOT EXISTS ${file}.part)
    list(JOIN tried "\n  " tried)
    message(FATAL_ERROR "Cannot get ${archive}.tar.gz (it is not in ${KokkosHostSpaces_ARCHIVE_DIR}, and all downloads failed):\n"
                        "  ${tried}\n"
                        "Put the archive into that folder, name another folder by -DKokkosHostSpaces_ARCHIVE_DIR=... "
                        "(quickstart.sh: by KOKKOS_HOST_SPACES_ARCHIVE_DIR), "
                        "or install the package and name it by -DCMAKE_PREFIX_PATH=...")
  endif()
  file(RENAME ${file}.part ${file})
endfunction()

# Unpacks <archive>.tar.gz, which has one folder, <archive>, in `folder`. The archive is taken from
# KokkosHostSpaces_ARCHIVE_DIR, else from upstream, else from the mirror that apt is configured for:
# Debian keeps archives of upstream byte by byte in its pool.
function(_khs_unpack folder archive sha256 upstream debian_pool)
  set(source ${folder}/${archive})
  if(NOT EXISTS ${source})
    _khs_fetch(${archive} ${sha256} ${upstream} ${debian_pool})
    # Unpacked elsewhere and moved, so that an interrupted run leaves nothing that looks complete.
    file(REMOVE_RECURSE ${source}.unpacking)
    file(ARCHIVE_EXTRACT INPUT ${KokkosHostSpaces_ARCHIVE_DIR}/${archive}.tar.gz DESTINATION ${source}.unpacking)
    file(RENAME ${source}.unpacking/${archive} ${source})
    file(REMOVE_RECURSE ${source}.unpacking)
  endif()
endfunction()

# khs_add_archive(<archive> <SHA-256> <upstream> <path in Debian's pool>): adds it to the build.
function(khs_add_archive archive)
  _khs_unpack(${PROJECT_BINARY_DIR}/_deps ${archive} ${ARGN})
  set(BUILD_TESTING OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # so that a shared library can be linked against it
  if(NOT CMAKE_CXX_STANDARD)
    set(CMAKE_CXX_STANDARD 20)
  endif()
  set(CMAKE_UNITY_BUILD ON)  # takes a third of the time
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
  add_subdirectory(${PROJECT_BINARY_DIR}/_deps/${archive} ${PROJECT_BINARY_DIR}/_deps/${archive}-build SYSTEM)
endfunction()

# Builds and installs an archive now, without our flags; once, also where several builds begin together.
function(_khs_build_tool prefix archive)
  file(LOCK ${KokkosHostSpaces_TOOLS_DIR} DIRECTORY GUARD FUNCTION)
  if(EXISTS ${prefix}/complete)
    return()
  endif()
  message(STATUS "Building ${archive}")
  set(source ${KokkosHostSpaces_TOOLS_DIR}/${archive})
  _khs_unpack(${KokkosHostSpaces_TOOLS_DIR} ${archive} ${ARGN})
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -S ${source} -B ${prefix}/build
      -D CMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
      -D CMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"  # nothing that is measured runs in them
      -D CMAKE_CXX_STANDARD=20 -D CMAKE_INSTALL_PREFIX=${prefix}
      -D CMAKE_UNITY_BUILD=ON -D CMAKE_UNITY_BUILD_BATCH_SIZE=16
      -D BUILD_TESTING=OFF -D BENCHMARK_ENABLE_TESTING=OFF --no-warn-unused-cli
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND ${CMAKE_COMMAND} --build ${prefix}/build --config Release --target install --parallel ${cores}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(TOUCH ${prefix}/complete)
endfunction()

# khs_find_tool(<package> <version> <archive> <SHA-256> <upstream> <path in Debian's pool>): finds it
# installed, else builds it in KokkosHostSpaces_TOOLS_DIR.
macro(khs_find_tool package version archive)
  find_package(${package} ${version} CONFIG QUIET)
  if(NOT ${package}_FOUND)
    set(_khs_prefix ${KokkosHostSpaces_TOOLS_DIR}/${archive}-${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION})
    _khs_build_tool(${_khs_prefix} ${archive} ${ARGN})
    find_package(${package} ${version} CONFIG REQUIRED PATHS ${_khs_prefix} NO_DEFAULT_PATH)
  endif()
endmacro()
