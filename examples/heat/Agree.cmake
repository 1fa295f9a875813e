# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Checks that all results have the same checksum: cmake -D FILES=<a.json;b.json;...> -P Agree.cmake

set(missing ${FILES})
foreach(file IN LISTS FILES)
  if(EXISTS ${file})
    list(REMOVE_ITEM missing ${file})
  endif()
endforeach()
if(missing STREQUAL FILES)
  message(NOTICE "nothing to compare: all runs were skipped")  # a notice is not wrapped, ctest can match it
  return()
elseif(missing)
  message(FATAL_ERROR "missing results: ${missing}")
endif()

foreach(file IN LISTS FILES)
  file(READ ${file} json)
  string(JSON checksum GET ${json} checksum)
  message(STATUS "${checksum} ${file}")
  list(APPEND checksums ${checksum})
endforeach()
list(REMOVE_DUPLICATES checksums)
list(LENGTH checksums count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "the field depends on how it was decomposed: ${count} different checksums")
endif()
