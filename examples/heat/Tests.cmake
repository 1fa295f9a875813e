# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Small runs, on a grid of cells that no number of processes divides.
set(_khs_small_run --n 25 --steps 40)

# khs_heat_test(<name> <processes> <command>...)
function(khs_heat_test name processes)
  khs_project_test(example.heat.${name} ${ARGN})
  khs_runs_processes(example.heat.${name} ${processes})
endfunction()

# khs_heat_run(<name> <processes> <command>...): a run whose result is compared with the others.
function(khs_heat_run name processes)
  set(json ${CMAKE_CURRENT_BINARY_DIR}/${name}.json)
  khs_heat_test(${name} ${processes} ${ARGN} ${_khs_small_run} --json ${json})
  set_tests_properties(example.heat.${name} PROPERTIES FIXTURES_SETUP khs_heat_runs)
  set_property(GLOBAL APPEND PROPERTY _khs_heat_results ${json})
endfunction()

find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(Python3_EXECUTABLE)
  add_test(NAME example.heat.table_in_the_readme_is_that_of_the_results COMMAND ${CMAKE_COMMAND}
    -D PYTHON=${Python3_EXECUTABLE} -P ${CMAKE_CURRENT_SOURCE_DIR}/Table.cmake)
endif()

if(NOT KokkosHostSpaces_ENABLE_MPI)
  khs_heat_run(single_process 1 $<TARGET_FILE:heat>)
  message(STATUS "examples/heat is tested on a single process: no MPI")
  return()
endif()

khs_heat_run(single_process 1 $<TARGET_FILE:heat_single_process>)
set(_khs_mpirun ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
foreach(grid 1,1,1 1,1,2 4,1,1 2,2,1)
  string(REPLACE "," ";" factors ${grid})
  list(JOIN factors * product)
  math(EXPR processes ${product})
  string(REPLACE "," "x" name ${grid})
  foreach(halo mapped pinned)
    khs_heat_run(${halo}_${name} ${processes}
      ${_khs_mpirun} ${processes} $<TARGET_FILE:heat> --grid ${grid} --halo ${halo})
  endforeach()
endforeach()

# Bit by bit.
get_property(_khs_results GLOBAL PROPERTY _khs_heat_results)
add_test(NAME example.heat.all_decompositions_agree
  COMMAND ${CMAKE_COMMAND} "-D FILES=${_khs_results}" -P ${CMAKE_CURRENT_SOURCE_DIR}/Agree.cmake)
set_tests_properties(example.heat.all_decompositions_agree PROPERTIES
  FIXTURES_REQUIRED khs_heat_runs
  SKIP_REGULAR_EXPRESSION "nothing to compare")
if(KokkosHostSpaces_ENABLE_CUDA)
  set_tests_properties(example.heat.all_decompositions_agree PROPERTIES LABELS gpu)
endif()

# One step with an old halo. Exactly the exit code of a wrong result: a crash or another error will not do.
khs_heat_test(stale_halo_is_detected 2 sh -c
  "\"$@\" --plant-error\ncode=$?\ntest $code -ne 4 || exit 4\ntest $code -eq 1" sh
  ${_khs_mpirun} 2 $<TARGET_FILE:heat> ${_khs_small_run})
