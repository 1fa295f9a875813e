# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Failures of other allocators and runtimes, each with tests here whose names begin with "failure <number>: ". Compares
# the table in README.md with these names, or writes it:
# cmake -D ROOT=<source folder> [-D WRITE=ON] -P failures_of_others.cmake

set(failures
  "1|a block whose event never came kept all behind it|pytorch#71616"
  "2|a shortage waited for a stream that waited for the allocating thread|rmm#2470"
  "3|a kernel without end beside a loop of allocations: memory without bound|nccl#2031"
  "4|two blocks became one, and an event was lost|rmm#2489"
  "5|an event of one GPU was recorded on another|cuCascade#189, rmm#1306"
  "6|a stream was destroyed before the block that it used was freed|pytorch#66936, cuml#2632"
  "7|an event of a thread's capture was asked by the pool|pytorch#193982"
  "8|a graph read host memory that had been allocated again|pytorch#161583, #167507"
  "9|a shortage broke a capture|pytorch#159594"
  "10|out of memory, while a block that fitted came back|pytorch#189504"
  "11|a capture that failed to end counted for ever|ROCm/pytorch#3357"
  "12|pages that could not be locked were lost|pytorch#139884"
  "13|a thread in the background crashed at exit|pytorch#152008"
  "14|a fork beside a thread that page-locks hung|pytorch#130610"
  "15|memory was unmapped while registered, and its address used again|checkpoint-engine#67"
  "16|read-only mappings are refused with errors that say little|vllm-omni#6240"
  "17|a driver refuses memory that it took before|open-gpu-kernel-modules#732"
  "18|NUMA nodes without cores|open-gpu-kernel-modules#885, nccl#2106"
  "19|MPI did not take memory of a pool|ompi#12751, kokkos#4228"
  "20|a copy of pageable memory was read before it had arrived|ninfer-3090#38, aprender#2767"
  "21|a buffer grew while it was copied|cudf#21680"
  "22|deep_copy on another instance, and allocating inside a kernel of the host hung|kokkos#7241, #4474"
  "23|sync of a DualView copied more than its data|kokkos#3693"
  "24|sizes that never merge, and ever larger ones|Umpire#906, #539, amrex#1186"
  "25|a batch on the default stream was refused|vllm#46379")

file(GLOB_RECURSE sources ${ROOT}/tests/*.cpp ${ROOT}/tests/*CMakeLists.txt)
foreach(source IN LISTS sources)
  file(STRINGS ${source} lines REGEX "((TEST_CASE|NAME|khs_project_test)[^\"]*|^ +)\"failure [0-9]+: ")
  file(RELATIVE_PATH file ${ROOT}/tests ${source})
  foreach(line IN LISTS lines)
    string(REGEX MATCH "\"failure ([0-9]+): ([^\"]*)\"" _ "${line}")
    list(APPEND tests_of_${CMAKE_MATCH_1} "${CMAKE_MATCH_2} (`${file}`)")
    list(APPEND numbers ${CMAKE_MATCH_1})
  endforeach()
endforeach()

set(table "| | what failed | where | tests here |\n| --- | --- | --- | --- |\n")
foreach(failure IN LISTS failures)
  string(REPLACE "|" ";" failure "${failure}")
  list(GET failure 0 number)
  list(GET failure 1 what)
  list(GET failure 2 where)
  list(REMOVE_ITEM numbers ${number})
  if(NOT tests_of_${number})
    message(SEND_ERROR "no test begins with \"failure ${number}: \" (${what})")
  endif()
  list(JOIN tests_of_${number} "; " tests)
  string(APPEND table "| ${number} | ${what} | ${where} | ${tests} |\n")
endforeach()
if(numbers)
  message(SEND_ERROR "tests with a number that is not in the list: ${numbers}")
endif()

# Each place of a bug that planted_bugs.py or planted_failures.py plants is marked once.
file(GLOB_RECURSE planted ${ROOT}/backend/*.?pp ${ROOT}/memspaces/*.?pp)
foreach(source IN LISTS planted)
  file(STRINGS ${source} lines REGEX "^ *//~ ")
  list(TRANSFORM lines STRIP)
  list(APPEND marked ${lines})
endforeach()
foreach(script planted_bugs planted_failures)
  file(STRINGS ${ROOT}/tests/${script}.py lines REGEX "Place\\(\"")
  list(TRANSFORM lines REPLACE ".*Place\\(\"([^\"]*)\".*" "//~ \\1")
  list(APPEND places ${lines})
endforeach()
list(REMOVE_DUPLICATES places)
list(SORT places)
list(SORT marked)
if(NOT places STREQUAL marked)
  set(unknown ${marked})
  list(REMOVE_ITEM unknown ${places})
  list(REMOVE_ITEM places ${marked})
  message(SEND_ERROR "comments //~ and the places of tests/planted_*.py differ, or one is there twice: \
only in sources: ${unknown}; only in scripts: ${places}")
endif()

file(READ ${ROOT}/tests/README.md page)
set(begin "<!-- failures of others -->\n")
string(FIND "${page}" "${begin}" first)
string(FIND "${page}" "<!-- end of failures -->" last)
if(first LESS 0 OR last LESS 0)
  message(FATAL_ERROR "tests/README.md has no marks of the table")
endif()
string(LENGTH "${begin}" length)
math(EXPR first "${first} + ${length}")
math(EXPR length "${last} - ${first}")
string(SUBSTRING "${page}" ${first} ${length} now)
if(WRITE)
  string(REPLACE "${begin}${now}" "${begin}${table}" page "${page}")
  file(WRITE ${ROOT}/tests/README.md "${page}")
elseif(NOT now STREQUAL table)
  message(SEND_ERROR "the table in tests/README.md is not that of the tests: add -D WRITE=ON")
endif()
