# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Checks that all C++ on the pages stands in a source that is compiled and run, spaces and line breaks aside:
# cmake -D ROOT=<source folder> -D PAGES=<files> -D SOURCES=<files> -P code_is_tested.cmake

cmake_minimum_required(VERSION 3.25)

function(without_space text result)
  string(REGEX REPLACE "[ \n]+" "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

set(tested "")
foreach(source IN LISTS SOURCES)
  file(READ ${source} text)
  without_space("${text}" text)
  string(APPEND tested "${text}")
endforeach()

set(begin "```cpp\n")
string(LENGTH "${begin}" length)
foreach(page IN LISTS PAGES)
  file(READ ${ROOT}/${page} text)
  set(blocks 0)
  while(TRUE)
    string(FIND "${text}" "${begin}" position)
    if(position EQUAL -1)
      break()
    endif()
    math(EXPR position "${position} + ${length}")
    string(SUBSTRING "${text}" ${position} -1 text)
    string(FIND "${text}" "```" end)
    string(SUBSTRING "${text}" 0 ${end} block)
    without_space("${block}" needed)
    string(FIND "${tested}" "${needed}" found)
    if(found EQUAL -1)
      message(SEND_ERROR "${page}: this code is in no source that is tested (${SOURCES}):\n${block}")
    endif()
    math(EXPR blocks "${blocks} + 1")
  endwhile()
  if(blocks EQUAL 0)
    message(SEND_ERROR "${page} has no code: nothing was checked")
  endif()
endforeach()
