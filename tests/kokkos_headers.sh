#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Do the CUDA sources compile with the headers of another Kokkos, whose sources are not at hand?
#
#   bash tests/kokkos_headers.sh <folder with its KokkosCore_config.h> [<part of the objects' names>]
#
# Takes the commands of build/cuda, for which Kokkos was built along, and throws away what is compiled.
# The folder may be that of a package without CUDA: what is configured for CUDA comes from build/cuda.

set -euo pipefail
headers=$(realpath "${1:?a folder of headers}")
objects=${2:-^(memspaces|tests/memspaces|perf|examples)/}
cd "$(dirname "${BASH_SOURCE[0]}")/../build/cuda"
built=$(find "$PWD/_deps" -maxdepth 1 -name 'kokkos-*-build' | head -n 1)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

cp -rL "$headers"/. "$copy"
cp "$built"/KokkosCore_Config_*Backend.hpp "$copy"
cp "$(find "$built" -path '*desul/atomics/Config.hpp' | head -n 1)" "$copy/desul/atomics/"
sed -nE 's/^#define (KOKKOS_(ENABLE_(CUDA|SERIAL|OPENMP)|ARCH_[A-Z0-9]+))$/\1/p' "$built/KokkosCore_config.h" |
  while read -r macro; do
    sed -i "s,^/\* #undef $macro \*/,#define $macro," "$copy/KokkosCore_config.h"
  done

status=0
mapfile -t all < <(ninja -t targets all | sed -n 's/\.o: .*/.o/p' | grep -E "$objects")
for object in "${all[@]}"; do
  command=$(ninja -t commands "$object" | grep -F -- "-o $object " | tail -n 1 |
    sed -E "s# -isystem [^ ]*/_deps/[^ ]*##g; s# -MD -MT [^ ]* -MF [^ ]*##; s# -o [^ ]*# -o $copy/object.o -isystem $copy#")
  if eval "$command" > "$copy/log" 2>&1; then
    echo "compiles: $object"
  else
    status=1
    echo "FAILED:   $object"
    grep -A 5 "error" "$copy/log" | head -n 40
  fi
done
exit $status
