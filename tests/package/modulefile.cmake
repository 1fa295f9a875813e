# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# The module that is installed names folders that are there, and that CMake finds the package in:
# cmake -D FILE=<module> -D PREFIX=<prefix of the installation> -P modulefile.cmake

cmake_minimum_required(VERSION 3.25)

file(READ ${FILE} text)
string(REGEX MATCHALL "\"/[^\"]*\"" folders "${text}")
list(TRANSFORM folders REPLACE "\"" "")
foreach(folder IN LISTS folders)
  if(NOT EXISTS ${folder})
    message(SEND_ERROR "${FILE} names ${folder}, which is not there")
  endif()
endforeach()
if(text MATCHES "@" OR NOT PREFIX IN_LIST folders)
  message(SEND_ERROR "${FILE} does not name ${PREFIX}, but ${folders}, or was not configured")
endif()
set(CMAKE_PREFIX_PATH ${folders})
find_file(package KokkosHostSpacesConfig.cmake PATH_SUFFIXES lib/cmake/KokkosHostSpaces lib64/cmake/KokkosHostSpaces)
if(NOT package)
  message(SEND_ERROR "the package is not in ${folders}")
endif()
