# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# A case of Catch2 that is skipped must not count as failed, whatever the release of Catch2, and an executable
# without cases not as passed:
# cmake -D BUILD=<build folder> -P skips.cmake

file(GLOB_RECURSE lists ${BUILD}/tests/*_tests.cmake)  # written by catch_discover_tests
set(count 0)
foreach(list IN LISTS lists)
  file(STRINGS ${list} tests REGEX "^add_test")
  file(STRINGS ${list} skipping REGEX "^set_tests_properties.* SKIP_RETURN_CODE [\"[=]*4")
  list(LENGTH tests tests)
  if(tests EQUAL 0)
    message(SEND_ERROR "${list}: an executable without cases: give it some, or remove it")
  endif()
  list(LENGTH skipping skipping)
  if(NOT tests EQUAL skipping)
    message(SEND_ERROR "${list}: ${skipping} of ${tests} tests can be skipped: add them by khs_catch_tests")
  endif()
  math(EXPR count "${count} + ${tests}")
endforeach()
if(count EQUAL 0)
  message(SEND_ERROR "no tests in ${BUILD}: nothing was checked")
endif()
