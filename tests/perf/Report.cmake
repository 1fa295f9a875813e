# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Tests of perf/report.py on synthetic results. Pictures need matplotlib, which not every Python has:
# the first one that has it is taken.
function(_khs_has_matplotlib result candidate)
  execute_process(COMMAND ${candidate} -c "import matplotlib"
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
find_program(KokkosHostSpaces_PYTHON_WITH_MATPLOTLIB NAMES python3 VALIDATOR _khs_has_matplotlib
  DOC "Python 3 with matplotlib, for the tests of the performance report")
mark_as_advanced(KokkosHostSpaces_PYTHON_WITH_MATPLOTLIB)

foreach(test check results compare figures report)
  set(python ${Python3_EXECUTABLE})
  if(KokkosHostSpaces_PYTHON_WITH_MATPLOTLIB)
    set(python ${KokkosHostSpaces_PYTHON_WITH_MATPLOTLIB})
  endif()
  if(python)
    add_test(NAME perf.report_${test} COMMAND ${python} -B ${CMAKE_CURRENT_SOURCE_DIR}/test_${test}.py)
    set_tests_properties(perf.report_${test} PROPERTIES SKIP_RETURN_CODE 4)
  else()
    add_test(NAME perf.report_${test} COMMAND ${CMAKE_COMMAND} -E echo "skipped: there is no Python 3.9 or later")
    set_tests_properties(perf.report_${test} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped")
  endif()
endforeach()

# Figures marked in pages are those of the results they name.
if(Python3_EXECUTABLE)
  file(GLOB pages ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/perf/*.md ${PROJECT_SOURCE_DIR}/perf/*/*.md
    ${PROJECT_SOURCE_DIR}/memspaces/docs/*.md ${PROJECT_SOURCE_DIR}/examples/*/README.md)
  add_test(NAME perf.figures_in_pages_are_those_of_the_results
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/perf/report.py figures ${pages})
endif()
