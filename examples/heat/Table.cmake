# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Fails if README.md does not hold the table of results/h200.json: cmake -D PYTHON=<python> -P Table.cmake

execute_process(
  COMMAND ${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/scaling_table.py ${CMAKE_CURRENT_LIST_DIR}/results/h200.json
  OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
file(READ ${CMAKE_CURRENT_LIST_DIR}/README.md readme)
string(FIND "${readme}" "${table}" found)
if(table STREQUAL "" OR found EQUAL -1)
  message(FATAL_ERROR "README.md does not hold this table, that of results/h200.json:\n${table}")
endif()
