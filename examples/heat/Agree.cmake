# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Checks that all results have the same checksum: cmake -D FILES=<a.json;b.json;...> -P Agree.cmake

foreach(file IN LISTS FILES)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "no ${file}: nothing to compare, as where all runs were skipped")
  endif()
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
