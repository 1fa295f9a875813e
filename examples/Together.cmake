# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# All examples as one source: each in a namespace, behind what any of them includes.

get_property(names GLOBAL PROPERTY _khs_examples)
set(includes)
set(bodies)
foreach(name IN LISTS names)
  set(example ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
  file(STRINGS ${example} lines REGEX "^#include ")
  list(APPEND includes ${lines})
  string(APPEND bodies "namespace example_${name} {\n#include \"${example}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES includes)
list(TRANSFORM includes REPLACE "#include (.*)" "#if __has_include(\\1)\n#include \\1\n#endif")  # CUDA's are for CUDA
list(JOIN includes "\n" includes)
file(CONFIGURE OUTPUT together.cpp CONTENT "@includes@\n@bodies@" @ONLY)

add_library(examples_together OBJECT ${CMAKE_CURRENT_BINARY_DIR}/together.cpp)
target_include_directories(examples_together PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(examples_together PRIVATE
  KokkosHostSpaces::hostspaces $<TARGET_NAME_IF_EXISTS:CUDA::cuda_driver>)
khs_project_target(examples_together)
