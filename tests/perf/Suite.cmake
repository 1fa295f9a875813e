# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# The suite runs, its results are right, and it notices when they are not.
set(_khs_detects sh ${CMAKE_CURRENT_LIST_DIR}/detects_wrong_results.sh)

khs_project_test(perf.suite_quick kokkos_host_spaces_perf --quick
  --json ${CMAKE_CURRENT_BINARY_DIR}/suite_quick.json)
khs_project_test(perf.suite_detects_wrong_results ${_khs_detects} $<TARGET_FILE:kokkos_host_spaces_perf>)

khs_project_test(perf.transport_shows_a_table kokkos_host_spaces_transport --quick)
set_tests_properties(perf.transport_shows_a_table PROPERTIES
  PASS_REGULAR_EXPRESSION "4 KiB +[0-9.]+ GB/s.*16 MiB +[0-9.]+ GB/s +[0-9.]+ GB/s +[0-9.]+ GB/s.* / [0-9.]+\n")

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
