# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Other compilers and flags warn of other things: only the presets set it.
option(KokkosHostSpaces_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
# Kokkos' headers take most of the time that a source takes.
option(KokkosHostSpaces_UNITY_BUILD "Compile several sources at once, which is less work" ON)
option(KokkosHostSpaces_GPU_TESTS "OFF: tests that need a GPU are shown as skipped, one for a group of them, and can be left unbuilt" ON)

# 1 for targets which nvcc compiles: all if its wrapper is the compiler, else Kokkos sees to it that
# those are which depend on Kokkos, and marks them.
set(_khs_by_nvcc 0)
if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
  set(_khs_by_nvcc 1)
elseif(KokkosHostSpaces_ENABLE_CUDA)
  set(_khs_by_nvcc $<IN_LIST:KOKKOS_DEPENDENCE,$<TARGET_PROPERTY:COMPILE_DEFINITIONS>>)
endif()

# khs_project_target(<target> [APART] [SMALL] [TOGETHER]): how we compile what is ours: each source by itself with APART;
# many at once if they are SMALL; with TOGETHER all at once, except by nvcc. Nothing of it is exported.
function(khs_project_target target)
  set_property(GLOBAL APPEND PROPERTY _khs_targets ${target})
  set(standard 20)
  if(CMAKE_CXX_STANDARD GREATER 20)
    set(standard ${CMAKE_CXX_STANDARD})
  endif()
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD ${standard} CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    UNITY_BUILD OFF  # whatever the surrounding project says
    UNITY_BUILD_BATCH_SIZE 6)
  set(at_once OFF)
  if("TOGETHER" IN_LIST ARGN AND NOT KokkosHostSpaces_ENABLE_CUDA)
    set(at_once ON)
  endif()
  if(at_once OR "SMALL" IN_LIST ARGN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 15)
  endif()
  if(KokkosHostSpaces_UNITY_BUILD AND (at_once OR NOT "APART" IN_LIST ARGN))
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
  # What nvcc generates for the host compiler converts freely, and Kokkos' wrapper drops -Wpedantic.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:${_khs_by_nvcc}>>:-Wpedantic;-Wconversion>"
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>  # GCC 12 sees overlaps in std::string that are none (its bug 105651)
    # What GCC does not warn of: Clang's -Wconversion and -Wall have more, and its -Wshadow sees names of other sources.
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion;-Wno-missing-braces;-Wno-shadow>"
    "$<$<BOOL:${KokkosHostSpaces_WARNINGS_AS_ERRORS}>:$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=>-Werror>")
endfunction()

# khs_precompile_kokkos(<target>): what targets with the flags of this folder take precompiled headers of Kokkos from.
function(khs_precompile_kokkos target)
  file(CONFIGURE OUTPUT ${target}.cpp CONTENT "")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  target_link_libraries(${target} PRIVATE Kokkos::kokkos)
  khs_project_target(${target})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_precompile_headers(${target} PRIVATE <Kokkos_Core.hpp>)
endfunction()

# khs_built_by_test(<test> <target>): another test, with the same label, builds the target, which a normal build leaves out.
function(khs_built_by_test test target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  get_test_property(${test} LABELS label)
  add_test(NAME ${test}_build COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ${target})
  set_tests_properties(${test}_build PROPERTIES
    LABELS ${label} TIMEOUT 7200 RESOURCE_LOCK ${CMAKE_BINARY_DIR} FIXTURES_SETUP ${test}_built)
  set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED ${test}_built)
endfunction()

# Remembers a test that needs a GPU, where these are not run.
function(_khs_count_gpu_test name)
  string(REGEX REPLACE "[.].*" "" group ${name})
  get_property(count GLOBAL PROPERTY _khs_gpu_tests_of_${group})
  if(NOT count)
    set(count 0)
  endif()
  math(EXPR count "${count} + 1")
  set_property(GLOBAL PROPERTY _khs_gpu_tests_of_${group} ${count})
  set_property(GLOBAL APPEND PROPERTY _khs_gpu_groups ${group})
endfunction()

# khs_show_gpu_tests_left_out(): to be called last. A skipped test for each group, the name up to the first dot; its name
# tells how many there are. They themselves are there with `ctest -C gpu`.
function(khs_show_gpu_tests_left_out)
  get_property(groups GLOBAL PROPERTY _khs_gpu_groups)
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    get_property(count GLOBAL PROPERTY _khs_gpu_tests_of_${group})
    set(name ${group}.${count}_need_a_gpu)
    add_test(NAME ${name} COMMAND sh -c "echo 'There is no GPU'; exit 4")
    set_tests_properties(${name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 4)
  endforeach()
endfunction()

# khs_project_test(<name> <target> [<argument>...]): a test that runs an executable which uses Kokkos;
# exit code 4, as Catch2's, means skipped. Where Kokkos has CUDA it gets the label gpu. An executable
# finds out by itself that there is no GPU; without a driver the loader does not even start it.
function(khs_project_test name target)
  set(only)
  if(KokkosHostSpaces_ENABLE_CUDA AND NOT KokkosHostSpaces_GPU_TESTS)
    _khs_count_gpu_test(${name})
    set(only CONFIGURATIONS gpu)
  endif()
  add_test(NAME ${name} COMMAND ${target} ${ARGN} ${only})
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 4
    ENVIRONMENT "OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive")  # else Kokkos warns, and tests that share cores are slow
  if(KokkosHostSpaces_ENABLE_CUDA)
    set_tests_properties(${name} PROPERTIES
      LABELS gpu
      SKIP_REGULAR_EXPRESSION "libcuda.so.1: cannot open shared object file")
  endif()
endfunction()

# khs_catch_tests(<target> [<label> [<tag>]]): a test for each case of an executable of Catch2, which does not use Kokkos.
# One label only (Catch2 tears lists apart): gpu-long is selected by -L gpu as by -L long. Cases with the tag run alone.
function(khs_catch_tests target)
  if(KokkosHostSpaces_ENABLE_CUDA AND NOT KokkosHostSpaces_GPU_TESTS)
    _khs_count_gpu_test(${target})
    return()
  endif()
  set(properties SKIP_RETURN_CODE 4)  # else skipped is failed before Catch2 3.7
  if(ARGC GREATER 1)
    list(APPEND properties LABELS ${ARGV1})
  endif()
  set(others)
  if(ARGC GREATER 2)
    catch_discover_tests(${target} TEST_SPEC "${ARGV2}~[.]"
      TEST_PREFIX "${target}." PROPERTIES ${properties} RUN_SERIAL ON)
    set(others TEST_SPEC "~${ARGV2}")
  endif()
  catch_discover_tests(${target} ${others} TEST_PREFIX "${target}." PROPERTIES ${properties})
endfunction()

# khs_mpirun(<variable> <target> <processes>): the command that starts it. Without a driver it ends as skipped at once:
# mpiexec takes seconds to see that nothing runs.
function(khs_mpirun variable target processes)
  set(command ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${processes} $<TARGET_FILE:${target}>)
  if(KokkosHostSpaces_ENABLE_CUDA)
    list(PREPEND command sh -c [[ldd "$0" | grep -q "libcuda.so.1 => not found" && exit 4 || exec "$@"]]
      $<TARGET_FILE:${target}>)
  endif()
  set(${variable} ${command} PARENT_SCOPE)
endfunction()

# khs_runs_processes(<test> <processes>): the test starts so many processes of MPI, one thread each.
function(khs_runs_processes test processes)
  # Open MPI 4 and 5 are told by variables, which others ignore, to start more processes than there are cores, also as root.
  set_tests_properties(${test} PROPERTIES
    TIMEOUT 300
    PROCESSORS ${processes}
    COST 100  # first: later there are hardly ever so many cores free, and they would be left to the end, one at a time
    ENVIRONMENT "OMP_PROC_BIND=false;OMP_NUM_THREADS=1;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none;PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe;PRTE_MCA_hwloc_default_binding_policy=none")
endfunction()
