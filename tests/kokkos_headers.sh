#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Do the CUDA sources compile with the headers of another Kokkos, whose sources are not at hand?
#
#   bash tests/kokkos_headers.sh <folder of its KokkosCore_config.h> [<regular expression>]
#
# Takes the commands of build/cuda, or of the build tree $BUILD (by Ninja, Kokkos built along), for the
# objects that match, by default all that include Kokkos, and throws away what is compiled. The folder
# may be that of a package without CUDA: what is configured for CUDA comes from the build tree.

set -euo pipefail
fail() { echo "kokkos_headers: $*" >&2; exit 1; }

headers=$(realpath "${1:?a folder of headers}")
objects=${2:-^(memspaces|tests/memspaces|perf|examples)/}
cd "${BUILD:-$(dirname "${BASH_SOURCE[0]}")/../build/cuda}" || fail "there is no build tree"
built=$(find "$PWD/_deps" -maxdepth 1 -name 'kokkos-*-build' | head -n 1)
[ -n "$built" ] || fail "Kokkos was not built in $PWD"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

cp -rL "$headers"/. "$copy"
cp "$built"/KokkosCore_Config_*Backend.hpp "$copy"
cp "$(find "$built" -path '*desul/atomics/Config.hpp' | head -n 1)" "$copy/desul/atomics/"
sed -nE 's/^#define (KOKKOS_(ENABLE_(CUDA|SERIAL|OPENMP)|ARCH_[A-Z0-9]+))$/\1/p' \
  "$built/KokkosCore_config.h" |
  while read -r macro; do
    sed -i "s,^/\* #undef $macro \*/,#define $macro," "$copy/KokkosCore_config.h"
  done

# The headers refuse another Kokkos than the library was built for.
cat > "$copy/BuiltFor.hpp" << END
#define KOKKOS_HOST_SPACES_IMPL_BUILT_FOR_KOKKOS_HPP
#define KOKKOS_HOST_SPACES_BUILT_FOR_KOKKOS $(sed -nE 's/^#define KOKKOS_VERSION ([0-9]+)$/\1/p' "$copy/KokkosCore_config.h")
END

# command_of <object>: without the headers and outputs of build/cuda
command_of() {
  ninja -t commands "$1" | grep -F -- "-o $1 " | tail -n 1 |
    sed -E 's# -isystem [^ ]*/_deps/[^ ]*##g; s# -MD -MT [^ ]* -MF [^ ]*##; s# -o [^ ]*##'
}

targets=$(ninja -t targets all | sed -n 's/\.o: .*/.o/p')
mapfile -t all < <(grep -E "$objects" <<< "$targets")
[ ${#all[@]} -gt 0 ] || fail "no object matches $objects"
status=0
for object in "${all[@]}"; do
  command=$(command_of "$object") || fail "there is no command for $object"
  if eval "$command -o $copy/object.o -include $copy/BuiltFor.hpp -isystem $copy" > "$copy/log" 2>&1; then
    echo "compiles: $object"
  else
    status=1
    echo "FAILED:   $object"
    grep -A 5 "error" "$copy/log" | head -n 40 || tail -n 20 "$copy/log"
  fi
done
exit $status
