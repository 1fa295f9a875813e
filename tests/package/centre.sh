#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Builds the project as a computing centre does: without presets, by each build type and by none, with these options,
# which name an installed Kokkos and, for CUDA, its nvcc_wrapper as the compiler. No compiler may warn.
#
#   bash centre.sh <source folder> <folder to work in> <option of cmake>...

set -euo pipefail
source=$1 work=$2
shift 2
rm -rf "$work"
mkdir -p "$work"
for type in Release Debug ""; do
  build=$work/${type:-none}
  if ! { cmake -S "$source" -B "$build" -D CMAKE_BUILD_TYPE="$type" "$@" &&
    cmake --build "$build" --parallel "$(nproc)"; } > "$build.log" 2>&1 ||
    grep -E "(warning|Warning)( #[0-9]+-D)?:" "$build.log"; then
    tail -n 40 "$build.log"
    echo "with the build type '$type' it does not build, or draws warnings"
    exit 1
  fi
done
