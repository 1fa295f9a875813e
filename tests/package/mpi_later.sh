#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# A build tree that was configured without MPI takes the MPI that is there when it is configured again:
# bash mpi_later.sh <folder cmake/> <folder to work in>

set -euo pipefail
rm -rf "$2"
mkdir -p "$2/modules"
cat > "$2/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(made_up NONE)
set(CMAKE_MODULE_PATH \${CMAKE_SOURCE_DIR}/modules "$1")
set(KokkosHostSpaces_ENABLE_EXAMPLES ON)
set(KokkosHostSpaces_ENABLE_ADOPT OFF)
include(Dependencies)
message(STATUS "MPI: \${KokkosHostSpaces_ENABLE_MPI}")
END
echo "set(Threads_FOUND TRUE)" > "$2/modules/FindThreads.cmake"
# shellcheck disable=SC2016
echo 'set(MPI_CXX_FOUND $ENV{PLANTED_MPI})' > "$2/modules/FindMPI.cmake"

# expect <what the configuration says of MPI> [<option>...]
expect() {
  if ! cmake -S "$2" -B "$2/build" "${@:3}" > "$2/log" 2>&1 || ! grep -q "MPI: $1" "$2/log"; then
    cat "$2/log"
    echo "expected: MPI: $1"
    exit 1
  fi
}

PLANTED_MPI=FALSE expect "\(FALSE\|OFF\)" "$2"
PLANTED_MPI=TRUE expect TRUE "$2"
PLANTED_MPI=TRUE expect OFF "$2" -D KokkosHostSpaces_ENABLE_MPI=OFF
