# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# What the suite needs to run and to judge, beside the program: laid out as in the repository.
include(GNUInstallDirs)
set(_khs_perf ${CMAKE_INSTALL_DATADIR}/kokkos_host_spaces/perf)
install(PROGRAMS report.py DESTINATION ${_khs_perf})
install(FILES README.md DESTINATION ${_khs_perf})
install(DIRECTORY report cluster DESTINATION ${_khs_perf}
  PATTERN __pycache__ EXCLUDE
  PATTERN suite.slurm EXCLUDE
  PATTERN suite.pbs EXCLUDE
  PATTERN Install.cmake EXCLUDE)

# A batch system runs a copy of a job script, which has to be told where the others lie.
install(CODE "set(source \"${CMAKE_CURRENT_SOURCE_DIR}/cluster\")\nset(perf \"${_khs_perf}\")")
install(CODE [[
  cmake_path(ABSOLUTE_PATH perf BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
  foreach(script suite.slurm suite.pbs)
    file(READ ${source}/${script} text)
    string(REGEX MATCH "perf=[$]{(SLURM_SUBMIT_DIR|PBS_O_WORKDIR):-[$]PWD}/perf" unknown "${text}")
    if(unknown STREQUAL "")
      message(FATAL_ERROR "${source}/${script} has no line that could be told where the others lie")
    endif()
    string(REPLACE "'" "'\\''" quoted "${perf}")
    string(REPLACE "${unknown}" "perf='${quoted}'" installed "${text}")
    set(file "$ENV{DESTDIR}${perf}/cluster/${script}")
    message(STATUS "Installing: ${file}")
    file(WRITE "${file}" "${installed}")
    file(CHMOD "${file}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
]])
