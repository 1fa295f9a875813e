#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# `quickstart.sh test` fails if anything does in one of its build trees, or has no tests, and `quickstart.sh` if what it
# measures is wrong: on a project that is made up, by the presets and the programs of this machine. tests/gpu.sh begins no
# stage if one of them cannot run:
# bash quickstart.sh <source folder> <folder to work in>

set -euo pipefail
rm -rf "$2"
mkdir -p "$2/cmake" "$2/bin"
cp "$1/cmake/quickstart.sh" "$2/cmake/"
cp "$1/CMakePresets.json" "$1/README.md" "$2/"
cd "$2"

# Neither finds a GPU nor installs anything.
printf '#!/bin/sh\nexit 1\n' > bin/nvidia-smi
printf '#!/bin/sh\necho "release 13.0, V13.0.48"\n' > bin/nvcc
printf '#!/bin/sh\n' | tee bin/apt-get > bin/reframe
chmod +x bin/*
export PATH="$PWD/bin:$PATH" SOURCE=$1

cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(made_up NONE)
enable_testing()
cmake_path(GET CMAKE_BINARY_DIR FILENAME preset)
if(NOT "$ENV{PLANTED}" STREQUAL "no tests in ${preset}")
  add_test(NAME in_${preset} COMMAND sh -c "test \"$PLANTED\" != 'a test in ${preset}'")
endif()
if(preset STREQUAL "cuda")
  include("$ENV{SOURCE}/cmake/ProjectTarget.cmake")
  foreach(test some.one some.two others.one)
    khs_project_test(${test} false)
  endforeach()
  khs_show_gpu_tests_left_out()
endif()
add_custom_target(hostspaces)
file(WRITE ${CMAKE_BINARY_DIR}/examples/14_first_views "#!/bin/sh\ntest \"$PLANTED\" != 'a wrong result'\n")
file(CHMOD ${CMAKE_BINARY_DIR}/examples/14_first_views PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
add_custom_target(example_14_first_views)
add_custom_target(everything ALL COMMAND sh -c "test \"$PLANTED\" != 'a build of ${preset}'" VERBATIM)
if("$ENV{PLANTED}" STREQUAL "a configuration of ${preset}")
  message(FATAL_ERROR "planted")
endif()
END

# expect <exit code> <words> [<what is planted> [<argument>]]
expect() {
  local code=0
  PLANTED=${3:-} bash cmake/quickstart.sh "${4-test}" > log 2>&1 || code=$?
  if [ "$((code != 0))" -ne "$1" ] || ! grep -q "$2" log; then
    cat log
    echo "quickstart.sh with ${3:-nothing} planted ended with $code; expected: '$2'"
    exit 1
  fi
}

expect 0 "100% tests passed, 0 tests failed out of 6"
grep -q "have passed; 2 were skipped" log
if grep "(Skipped)$" log; then exit 1; fi
grep -q "some.2_need_a_gpu (Skipped)" build/all-tests/skipped
expect 1 "in_tsan (Failed)" "a test in tsan"
expect 1 "planted" "a configuration of asan"
expect 1 "FAILED: " "a build of asan"
expect 1 "FAILED: " "a build of host"
expect 1 "build/tsan has no tests" "no tests in tsan"

expect 0 "^first View  .* GiB .* x$" "" ""
grep -q "^==> Next: " log
if sed '1,/^==> Building/d' log | grep -E '.{101}'; then exit 1; fi
expect 1 "^first View " "a wrong result" ""
# Without a network a configuration fails: what is stored was shown, and words say what to do.
expect 1 "KOKKOS_HOST_SPACES_ARCHIVE_DIR=<folder> bash" "a configuration of host" ""
grep -q "^first View " log
rm -rf build
touch build
expect 1 "this clone cannot be written" "" ""
grep -q "^first View " log

# Each tool is there, and nothing is built.
mkdir tests
cp "$SOURCE/tests/gpu.sh" tests/
printf '#!/bin/sh\necho "GPU 0: made up"\n' > bin/nvidia-smi
cp bin/reframe bin/compute-sanitizer
cp bin/reframe bin/mpiexec
for stage in test cost stress sanitize perf several node reframe; do
  code=0
  bash tests/gpu.sh results kokkos "$stage" > log 2>&1 || code=$?
  if [ $code -ne 2 ] || ! grep -q "the stage $stage cannot run (nothing is built" log; then
    cat log
    echo "gpu.sh $stage ended with $code"
    exit 1
  fi
done
