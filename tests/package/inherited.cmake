# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Included by a consumer's project(): remembers its variables and, when its CMakeLists.txt is done,
# checks that the library left them alone, and brought no flags and nothing to build but itself.

set(CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR})
get_cmake_property(names VARIABLES)
list(FILTER names EXCLUDE REGEX "^(names|CMAKE_PARENT_LIST_FILE|CMAKE_CURRENT_LIST_.*|ARG[CVN0-9]*|CMAKE_MATCH_.*)$")
foreach(name IN LISTS names)
  set(before_${name} "${${name}}")
endforeach()

function(check_what_was_inherited)
  foreach(name IN LISTS names)
    if(NOT "${${name}}" STREQUAL "${before_${name}}")
      message(SEND_ERROR "${name} was '${before_${name}}' and is '${${name}}'")
    endif()
  endforeach()
  get_target_property(library KokkosHostSpaces::hostspaces ALIASED_TARGET)
  if(NOT library)
    set(library KokkosHostSpaces::hostspaces)
  endif()
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FEATURES LINK_OPTIONS)
    get_target_property(value ${library} INTERFACE_${property})
    if(value)
      message(SEND_ERROR "users inherit ${property}: ${value}")
    endif()
  endforeach()
  if(NOT WAY STREQUAL "find_package")
    cmake_path(NORMAL_PATH SOURCE)
    get_property(folders DIRECTORY ${SOURCE} PROPERTY SUBDIRECTORIES)
    if(NOT folders MATCHES "^[^;]*/backend;[^;]*/memspaces$")
      message(SEND_ERROR "folders built: ${folders}")
    endif()
  endif()
endfunction()
cmake_language(DEFER CALL check_what_was_inherited)
