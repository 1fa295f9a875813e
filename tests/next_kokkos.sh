#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Does another Kokkos still call this library?
#
#   bash tests/next_kokkos.sh <folder of its sources> <folder for all that is built>
#
# Installs it in host/ and, if nvcc is there, in cuda/ of that folder, configures this library with it in
# host-ours/ and cuda-ours/, and prints which forms of call reach this library. On the host also runs the
# tests of what Kokkos promises of a memory space.

set -euo pipefail
source=$(realpath "${1:?the folder of the sources of a Kokkos}")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
mkdir -p "${2:?a folder to build in}"
cd "$2"
PATH=$PATH:/usr/local/cuda/bin

# try <host or cuda> <option for Kokkos>...
try() {
  local name=$1 tests=every_form_of_call
  local -a targets=(hostspaces order_forms_FIRST order_forms_LAST)
  shift
  cmake -G Ninja -S "$source" -B "$name-kokkos" -D CMAKE_INSTALL_PREFIX="$PWD/$name" -D CMAKE_BUILD_TYPE=Release "$@" > "$name.log"
  cmake --build "$name-kokkos" --target install >> "$name.log" || { tail -n 40 "$name.log"; return 1; }
  cmake -G Ninja -S "$root" -B "$name-ours" -D Kokkos_ROOT="$PWD/$name" -D KokkosHostSpaces_ALLOW_UNTESTED_KOKKOS=ON \
    -D KokkosHostSpaces_ENABLE_EXAMPLES=OFF -D KokkosHostSpaces_ENABLE_PERF=OFF -D CMAKE_CXX_FLAGS_RELEASE=-O0 | tail -n 5
  if [ "$name" = cuda ]; then
    targets+=(order_forms_EVERYWHERE)
  else
    targets+=(tests/memspaces/order/all conformance_tests)
    tests+='|memspaces[.](conformance|order_|everywhere)'
  fi
  cmake --build "$name-ours" --target "${targets[@]}" > "$name-ours.log" || { tail -n 40 "$name-ours.log"; return 1; }
  ctest --test-dir "$name-ours" -R "$tests" --no-tests=error --output-on-failure -V | sed -nE 's/^[0-9]+: //p; /tests passed|Failed/p'
}

try host -D Kokkos_ENABLE_OPENMP=ON
if command -v nvcc > /dev/null; then
  try cuda -D Kokkos_ENABLE_OPENMP=ON -D Kokkos_ENABLE_CUDA=ON -D Kokkos_ARCH_HOPPER90=ON
fi
