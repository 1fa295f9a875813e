#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# kokkos_host_spaces_run and its library are built and installed without Kokkos, and find each other where both are moved.
# bash adopt_alone.sh <sources> <initial cache> <generator> <compiler> <folder>

set -eu
sources=$1 cache=$2 generator=$3 compiler=$4
rm -rf "$5" && mkdir -p "$5" && cd "$5"
cmake --preset adopt -S "$sources" -B build -G "$generator" -C "$cache" -D CMAKE_INSTALL_PREFIX="$PWD/prefix"
cmake --build build --target install
[[ $(find prefix -type f | wc -l) == 2 ]] || { find prefix; exit 1; }
[[ -z $(find build/memspaces -name '*.o') ]] || { find build/memspaces -name '*.o'; exit 1; }  # none of it is used
mv prefix moved
echo 'int main() { try { throw 1; } catch (int) { return 7; } }' > program.cpp
"$compiler" program.cpp -o program
code=0
moved/bin/kokkos_host_spaces_run --report=report.%r ./program 2> stderr || code=$?
cat stderr report.0
[[ $code == 7 && ! -s stderr ]]
grep -q "adopt: ./program," report.0
