# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# A source that no list names is not compiled, and its tests are not run: cmake -D ROOT=<source folder> -P sources.cmake

cmake_minimum_required(VERSION 3.25)

# Whether a list in the folder of the source, in one above it, or in one beside it names the source by its path from
# there; by the name of a pair for the host and for CUDA, of which one is compiled.
function(is_listed source result)
  set(${result} TRUE PARENT_SCOPE)
  set(folder ${source})
  while(folder)
    cmake_path(GET folder PARENT_PATH folder)
    set(path ${ROOT}/${source})
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${ROOT}/${folder})
    cmake_path(REMOVE_EXTENSION path LAST_ONLY)
    string(REGEX REPLACE "(Cuda|Host)$" "" pair ${path})
    file(GLOB lists ${ROOT}/${folder}/CMakeLists.txt ${ROOT}/${folder}/*.cmake)
    foreach(list IN LISTS lists)
      file(STRINGS ${list} lines REGEX
        "(^|[ (/])(${path}[.]cpp|${pair}[$]{)|khs_example[(]${path}[ )]|foreach[(]source [A-Za-z ]*${path}[ )]")
      if(lines)
        return()
      endif()
    endforeach()
    file(GLOB lists ${ROOT}/${folder}/*/CMakeLists.txt)
    foreach(list IN LISTS lists)
      file(STRINGS ${list} lines REGEX "[.][.]/${path}[.]cpp")
      if(lines)
        return()
      endif()
    endforeach()
  endwhile()
  set(${result} FALSE PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/backend/*.cpp ${ROOT}/examples/*.cpp ${ROOT}/memspaces/*.cpp
  ${ROOT}/perf/*.cpp ${ROOT}/tests/*.cpp)
list(FILTER sources EXCLUDE REGEX "(^|/)([.]|build/)")
if(NOT sources)
  message(SEND_ERROR "no sources in ${ROOT}: nothing was checked")
endif()
foreach(source IN LISTS sources)
  is_listed(${source} listed)
  if(NOT listed)
    message(SEND_ERROR "${source} is in no list of a CMakeLists.txt: it is not compiled")
  endif()
endforeach()
