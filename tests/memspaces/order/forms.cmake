# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Prints which forms of call reach this library, and fails if one does not that is promised to:
# cmake -D FIRST=<object> -D LAST=<object> [-D EVERYWHERE=<object>] -D KOKKOS=<version> -P forms.cmake

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../../cmake/probe/Reached.cmake)

# Appends to `line` who is called, as wide as the column.
macro(append_owner form)
  if(NOT ${form} IN_LIST forms)
    string(APPEND line "           ")
  elseif(${form} IN_LIST lost)
    string(APPEND line "Kokkos'    ")
  else()
    string(APPEND line "ours       ")
  endif()
endmacro()

set(forms)
set(lost)
foreach(order FIRST LAST EVERYWHERE)
  if(DEFINED ${order})
    khs_forms_reached(${${order}} found missing)
    list(LENGTH found count)
    if(count LESS 20)
      message(SEND_ERROR "${count} forms of call in ${${order}}")
    endif()
    list(TRANSFORM found PREPEND ${order}_)
    list(TRANSFORM missing PREPEND ${order}_)
    list(APPEND forms ${found})
    list(APPEND lost ${missing})
  endif()
endforeach()

message("With Kokkos ${KOKKOS}, by a library of templates that knows Kokkos alone, and by the program itself:")
message("everywhere first      last       last       our header is included\nlibrary    library    library    program    form of call")
set(names ${forms})
list(FILTER names EXCLUDE REGEX "_direct_")
list(TRANSFORM names REPLACE "^[A-Z]+_" "")
list(REMOVE_DUPLICATES names)
foreach(form IN LISTS names)
  string(REGEX REPLACE "^(any|first)_" "" name ${form})
  set(line)
  append_owner(EVERYWHERE_${form})
  append_owner(FIRST_${form})
  append_owner(LAST_${form})
  append_owner(LAST_direct_${name})
  message("${line}${name}")
endforeach()

# A library that was included before this one calls Kokkos' own.
list(FILTER lost EXCLUDE REGEX "^LAST_first_")
if(lost)
  message(SEND_ERROR "lost: ${lost}")
endif()
