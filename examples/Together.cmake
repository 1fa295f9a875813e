# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# All examples as one source, README's with them: each in a namespace, behind what it includes.

get_property(names GLOBAL PROPERTY _khs_examples)
get_property(readme GLOBAL PROPERTY _khs_example_of_readme)
list(APPEND names ${readme})
set(text "")
foreach(name IN LISTS names)
  cmake_path(ABSOLUTE_PATH name NORMALIZE OUTPUT_VARIABLE example)
  cmake_path(GET name FILENAME name)
  string(APPEND example .cpp)
  file(STRINGS ${example} includes REGEX "^#include ")
  list(TRANSFORM includes REPLACE "#include (.*)" "#if __has_include(\\1)\n#include \\1\n#endif")  # CUDA's are for CUDA
  list(JOIN includes "\n" includes)
  string(APPEND text "${includes}\nnamespace example_${name} {\n#include \"${example}\"\n}\n")
endforeach()
file(CONFIGURE OUTPUT together.cpp CONTENT "@text@" @ONLY)

add_library(examples_together OBJECT ${CMAKE_CURRENT_BINARY_DIR}/together.cpp)
target_include_directories(examples_together PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(examples_together PRIVATE
  KokkosHostSpaces::hostspaces $<TARGET_NAME_IF_EXISTS:CUDA::cuda_driver>)
khs_project_target(examples_together)
