# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Links all sources of the backend and of memspaces/ with -flto -Wodr: only that finds a type which two of them define
# differently. The test builds the program, so that a normal build does not take the time.
add_executable(one_definition EXCLUDE_FROM_ALL OneDefinition.cpp)
foreach(part hostspaces_backend_common hostspaces_backend_host hostspaces_streams hostspaces)
  get_target_property(sources ${part} SOURCES)
  get_target_property(folder ${part} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  list(TRANSFORM sources PREPEND ${folder}/ REGEX "^src/")
  add_library(one_definition_of_${part} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_include_directories(one_definition_of_${part} PRIVATE $<TARGET_PROPERTY:${part},INCLUDE_DIRECTORIES>)
  target_link_libraries(one_definition_of_${part} PRIVATE Kokkos::kokkos hostspaces_backend_dependencies)
  target_compile_options(one_definition_of_${part} PRIVATE -O1 -flto -fno-fat-lto-objects)
  khs_project_target(one_definition_of_${part} SMALL)
  target_link_libraries(one_definition PRIVATE one_definition_of_${part})
endforeach()
target_link_libraries(one_definition PRIVATE Kokkos::kokkos hostspaces_backend_dependencies)
target_link_options(one_definition PRIVATE -O1 -flto -Wodr -Wlto-type-mismatch -Werror=odr -Werror=lto-type-mismatch)
khs_project_target(one_definition)

add_test(NAME memspaces.one_definition
  COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target one_definition)
set_tests_properties(memspaces.one_definition PROPERTIES LABELS long RESOURCE_LOCK ${CMAKE_BINARY_DIR} TIMEOUT 600)
