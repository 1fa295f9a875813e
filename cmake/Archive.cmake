# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Source archives with a known SHA-256: found in a folder, or downloaded to it, then built with us.

set(KokkosHostSpaces_ARCHIVE_DIR ${PROJECT_BINARY_DIR}/archives CACHE PATH
    "Folder of source archives of dependencies: looked into first, downloads are kept there")

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

# The same by apt's own downloader, which knows the mirror and the proxy that this machine uses.
function(_khs_download_with_apt url file sha256 error)
  message(STATUS "  from ${url} (the mirror of apt)")
  execute_process(
    COMMAND /usr/lib/apt/apt-helper -o Acquire::Retries=2 download-file ${url} ${file} SHA256:${sha256}
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
  set(error)
  _khs_download(${upstream} ${file}.part ${sha256} error)
  if(error)
    list(APPEND tried ${error})
    _khs_apt_sites(sites)
    foreach(site IN LISTS sites)
      set(error)
      _khs_download_with_apt(${site}/${debian_pool} ${file}.part ${sha256} error)
      if(NOT error)
        break()
      endif()
      list(APPEND tried ${error})
    endforeach()
  endif()
  if(NOT EXISTS ${file}.part)
    list(JOIN tried "\n  " tried)
    message(FATAL_ERROR "Cannot get ${archive}.tar.gz (it is not in ${KokkosHostSpaces_ARCHIVE_DIR}, and all downloads failed):\n"
                        "  ${tried}\n"
                        "Put the archive into that folder, name another folder by -DKokkosHostSpaces_ARCHIVE_DIR=..., "
                        "or install the package and name it by -DCMAKE_PREFIX_PATH=...")
  endif()
  file(RENAME ${file}.part ${file})
endfunction()

# khs_add_archive([EXCLUDE_FROM_ALL] ARCHIVE <name> SHA256 <sum> UPSTREAM <url> DEBIAN_POOL <path>)
#
# Unpacks <name>.tar.gz (which has one folder, <name>) and adds it to the build. The archive is taken
# from KokkosHostSpaces_ARCHIVE_DIR, else from upstream, else from the mirror that apt is configured
# for: Debian keeps archives of upstream byte by byte in its pool. EXCLUDE_FROM_ALL: builds only what
# is used, and does not install it. Sets <name>_SOURCE_DIR.
function(khs_add_archive)
  cmake_parse_arguments(PARSE_ARGV 0 arg "EXCLUDE_FROM_ALL" "ARCHIVE;SHA256;UPSTREAM;DEBIAN_POOL" "")
  set(source ${PROJECT_BINARY_DIR}/_deps/${arg_ARCHIVE})
  if(NOT EXISTS ${source})
    _khs_fetch(${arg_ARCHIVE} ${arg_SHA256} ${arg_UPSTREAM} ${arg_DEBIAN_POOL})
    # Unpacked elsewhere and moved, so that an interrupted run leaves nothing that looks complete.
    file(REMOVE_RECURSE ${source}.unpacking)
    file(ARCHIVE_EXTRACT INPUT ${KokkosHostSpaces_ARCHIVE_DIR}/${arg_ARCHIVE}.tar.gz DESTINATION ${source}.unpacking)
    file(RENAME ${source}.unpacking/${arg_ARCHIVE} ${source})
    file(REMOVE_RECURSE ${source}.unpacking)
  endif()

  set(options SYSTEM)
  if(arg_EXCLUDE_FROM_ALL)
    list(APPEND options EXCLUDE_FROM_ALL)
  endif()
  set(BUILD_TESTING OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # so that a shared library can be linked against it
  set(CMAKE_CXX_STANDARD 20)
  add_subdirectory(${source} ${source}-build ${options})
  set(${arg_ARCHIVE}_SOURCE_DIR ${source} PARENT_SCOPE)
endfunction()
