# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# The suite runs, its results are right, and it notices when they are not.
set(_khs_detects sh ${CMAKE_CURRENT_LIST_DIR}/detects_wrong_results.sh)

khs_project_test(perf.suite_quick kokkos_host_spaces_perf --quick
  --json ${CMAKE_CURRENT_BINARY_DIR}/suite_quick.json)
khs_project_test(perf.suite_detects_wrong_results ${_khs_detects} $<TARGET_FILE:kokkos_host_spaces_perf>)

khs_project_test(perf.transport_shows_a_table sh -c
  "table=$(\"$0\" --quick) && echo \"$table\" | grep -E '^16 MiB( +[0-9.]+ GB/s){3,4} +[0-9.]+( / [0-9.]+){2,3}$'"
  $<TARGET_FILE:kokkos_host_spaces_transport>)

khs_project_test(perf.suite_says_at_once_where_it_cannot_write kokkos_host_spaces_perf
  --quick --filter latency/fence --json /no/such/folder/results.json)
set_tests_properties(perf.suite_says_at_once_where_it_cannot_write PROPERTIES
  PASS_REGULAR_EXPRESSION "cannot write /no/such/folder/results.json|^Skipped: ")

# Threads that wait do not take cores from other tests.
set_tests_properties(perf.suite_quick perf.suite_detects_wrong_results perf.transport_shows_a_table
  PROPERTIES ENVIRONMENT "OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive")

if(KokkosHostSpaces_ENABLE_MPI)
  set(_khs_few_cases --filter "transport|vector/(triad|dot)|copy/.*contiguous|alloc/(cold|warm)|latency")
  foreach(ranks 2 4)
    set(_khs_launch ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:kokkos_host_spaces_perf>)
    khs_project_test(perf.suite_${ranks}_ranks ${_khs_launch} --quick ${_khs_few_cases}
      --json ${CMAKE_CURRENT_BINARY_DIR}/suite_${ranks}_ranks.json)
    khs_runs_processes(perf.suite_${ranks}_ranks ${ranks})
  endforeach()
  khs_project_test(perf.suite_ranks_detect_wrong_results ${_khs_detects}
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:kokkos_host_spaces_perf> --groups vector)
  khs_runs_processes(perf.suite_ranks_detect_wrong_results 2)
endif()
