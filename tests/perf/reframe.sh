#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   sh reframe.sh <folder to work in> <perf/ of the repository, or as it is installed> <suite> green|wrong|slow|crashed <group>
#
# Runs the suite by ReFrame as a centre would, on 2 ranks of this machine. It has to be green; or red for the right
# reason, with wrong results or a slowdown planted. Exit code 4: there is no ReFrame.

work=$1 perf=$2 program=$3 what=$4 group=$5
here=$(cd "$(dirname "$0")" && pwd)
reframe=$(command -v reframe || echo "$here/../../build/tools/reframe/bin/reframe")
case $("$reframe" --version 2> /dev/null) in
  4.[1-9][0-9]*) ;;
  *) echo "Skipped: there is no ReFrame 4.10 or later ('pip install reframe-hpc' installs it)"; exit 4 ;;
esac

rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 2
set -- -S goals="$here/host_goals.json"
few="--quick --filter vector/dot"
# What is green is found as it is for a centre.
case $what in
  wrong)
    mkdir -p "a build/perf" && ln -s "$program" "a build/perf/kokkos_host_spaces_perf"
    export BUILD="a build"
    set -- "$@" -S arguments="--quick --plant-error"
    ;;
  crashed)  # the suite speaks first, and its launcher last
    printf 'echo "the GPU fell off" >&2\nseq -f "%%0100.0f: a word of the launcher" 20 >&2\nexit 2\n' > suite.sh
    set -- "$@" -S program="sh $work/suite.sh"
    ;;
  green) set -- "$@" -S arguments="$few" ;;
  slow) set -- "$@" -S arguments="$few" -S program="python3 -B $here/slower.py 10000 $program" ;;
esac
output=$(TMPDIR=$work "$reframe" --nocolor --prefix "$work" --report-file "$work/report.json" \
  -C "$perf/cluster/reframe/settings.py" -c "$perf/cluster/reframe" -n "group=$group%" -r "$@" 2>&1)
code=$?
printf '%s\n' "$output"
count() { printf '%s\n' "$output" | grep -cE "$1"; }
case $what in
  green) [ $code -eq 0 ] && [ "$(count 'Ran ([1-9])/\1 test case')" -eq 1 ] && [ "$(count '^P: .*ratio')" -gt 1 ] ;;
  wrong) [ $code -ne 0 ] && [ "$(count 'errors in the results, such as .* are wrong')" -gt 0 ] ;;
  slow) [ $code -ne 0 ] && [ "$(count 'failed to meet reference.*: vectors_on_the_host_beside_plain_loops')" -gt 0 ] ;;
  crashed) [ $code -ne 0 ] && [ "$(count 'no results \(exit code .*the GPU fell off')" -gt 0 ] ;;
  *) exit 2 ;;
esac
