# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Checks that links of all pages lead to files. With HTML, checks the links of what Doxygen made, too:
# cmake -D ROOT=<source folder> [-D HTML=<folder>] -P pages.cmake

cmake_minimum_required(VERSION 3.25)

# Links of `text`, which stands in `folder`, that lead nowhere.
function(check_links text pattern folder file)
  string(REGEX MATCHALL "${pattern}" links "${text}")
  foreach(link IN LISTS links)
    string(REGEX MATCH "${pattern}" link "${link}")
    set(target "${CMAKE_MATCH_1}")
    if(target AND NOT target MATCHES "^[a-z]+:| " AND NOT EXISTS "${folder}/${target}")
      message(SEND_ERROR "${file} links to ${target}, which is not there")
    endif()
  endforeach()
endfunction()

# Brackets and semicolons mean something in lists of CMake.
function(read_plain file result)
  file(READ ${file} text)
  string(REGEX REPLACE "[][;\\]" "!" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE pages RELATIVE ${ROOT} ${ROOT}/*.md)
list(FILTER pages EXCLUDE REGEX "(^|/)(build|[.][^/]*)")
foreach(page IN LISTS pages)
  read_plain(${ROOT}/${page} text)
  cmake_path(GET page PARENT_PATH folder)
  check_links("${text}" "!\\(([^)#]*)[^)]*\\)" ${ROOT}/${folder} ${page})
endforeach()

if(HTML)
  file(GLOB pages RELATIVE ${HTML} ${HTML}/*.html)
  if(NOT pages)
    message(SEND_ERROR "${HTML} has no pages: nothing was checked")
  endif()
  foreach(page IN LISTS pages)
    read_plain(${HTML}/${page} text)
    check_links("${text}" " [hs][re][ec]f?=\"([^\"#]*)" ${HTML} ${page})
    if(text MATCHES ">[*][*]<code>([^<]*)")
      message(SEND_ERROR "${page} shows the stars of bold text: **${CMAKE_MATCH_1}")
    endif()
  endforeach()
endif()
