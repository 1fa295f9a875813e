#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Everything that only a GPU can show, on a machine that has one:
#
#   bash tests/gpu.sh <results folder> [<stage>...]    stages: build test cost stress sanitize perf
#                                                  (these by default), reframe (has to be installed), and
#                                                  several: for several GPUs, built with MPI
#
# Arguments of the first cmake call can be given in $CMAKE_ARGS.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
results=$(mkdir -p "${1:?a folder for results}" && cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- build test cost stress sanitize perf
build=build/cuda
failed=0
export OMP_PROC_BIND=false

say() { printf '\n==> %s (%s s)\n' "$*" "$SECONDS"; }
check() { "$@" || { failed=1; echo "FAILED: $*"; }; }

for stage in "$@"; do
  say "$stage"
  case $stage in
    build)
      # shellcheck disable=SC2086
      { cmake --preset cuda --no-warn-unused-cli ${CMAKE_ARGS:-} && cmake --build --preset cuda; } \
        > "$results/build.log" 2>&1 || { tail -n 60 "$results/build.log"; exit 1; }
      ;;
    test)
      check ctest --test-dir "$build" --label-regex gpu --output-on-failure --timeout 300 \
        > "$results/ctest.log" 2>&1
      grep -vE "Start +[0-9]+:| Passed " "$results/ctest.log" | tail -n 60
      ;;
    cost)  # cold page-locking beside the same by hand; hidden from ctest, for it takes a minute
      check "$build/tests/backend/backend_tests_cuda" "[cost]" > "$results/cost.txt" 2>&1
      grep -E "MiB: by hand|passed|FAILED" "$results/cost.txt"
      ;;
    stress)  # 11 million allocations
      check env KOKKOS_HOST_SPACES_TEST_ALLOCATIONS=172000 "$build/tests/memspaces/memspaces_tests" \
        "[pool_stress]" > "$results/stress.txt" 2>&1
      grep -E "checked|passed|FAILED" "$results/stress.txt"
      ;;
    sanitize)  # The tools run kernels one by one, and take the answer "a stream captures" for an error.
      for tool in memcheck racecheck initcheck synccheck; do
        log=$build/sanitizer_$tool.log
        check compute-sanitizer --tool "$tool" --error-exitcode 9 --launch-timeout 0 \
          "$build/tests/memspaces/memspaces_tests" "~[async]~[capture]" > "$log" 2>&1
        printf '%s: %s\n' "$tool" "$(tail -n 1 "$log")"
      done
      ;;
    perf)  # perf/results/README.md tells how the results in the repository are made.
      check "$build/perf/kokkos_host_spaces_perf" --json "$results/perf.json" \
        > "$results/perf.txt" 2> "$results/perf.err"
      cat "$results/perf.txt"
      ;;
    several)  # The suite by one rank, by two and so on, loops over several GPUs, and how an application scales.
      gpus=$(nvidia-smi -L | grep -c '^GPU ') || { echo "no GPU is visible"; exit 2; }
      numbers=$(for ((n = 1; n < gpus; n *= 2)); do echo $n; done; echo "$gpus")
      check env BUILD="$PWD/$build" RANKS="${RANKS:-$numbers}" ARGUMENTS="--groups copy --filter contiguous" \
        RESULTS="$results/ranks" bash perf/cluster/suite.slurm > "$results/ranks.txt" 2>&1
      tail -n 40 "$results/ranks.txt"
      for n in ${numbers#1}; do
        check env CUDA_VISIBLE_DEVICES="$(seq -s, 0 $((n - 1)))" "$build/perf/kokkos_host_spaces_perf" --full \
          --groups stream --filter all_devices --json "$results/stream_$n.json"
      done
      check env PROCESSES="${numbers//$'\n'/ }" STRONG=1024 bash examples/heat/scaling.sh \
        "$build/examples/heat/heat" "$results/heat.json" > "$results/heat.txt" 2>&1
      check python3 examples/heat/scaling_table.py "$results/heat.json"
      ;;
    reframe)  # Accepts an unchanged build, RUNS times in a row, and none whose every sample takes 10 % longer.
      PATH=$PATH:$PWD/build/tools/reframe/bin
      accept() {
        BUILD=$PWD/$build reframe --nocolor --prefix "$results/reframe" -C perf/cluster/reframe/settings.py \
          -c perf/cluster/reframe -r "$@" > "$results/reframe.log" 2>&1
      }
      for run in $(seq "${RUNS:-20}"); do
        accept || { failed=1; grep -E "FAIL |Reason" "$results/reframe.log" | sed "s/^/run $run: /"; }
      done
      accept -n 'group=(vector|copy|zero_copy|stream)%' \
        -S program="python3 -B $PWD/tests/perf/slower.py 1.1 $PWD/$build/perf/kokkos_host_spaces_perf"
      slower=$(grep -c 'FAIL ' "$results/reframe.log")
      [ "$slower" -ge 4 ] || { failed=1; echo "FAILED: a slowdown of 10 % was accepted but for $slower of 4 groups"; }
      grep -E "OK |FAIL |Reason" "$results/reframe.log"
      ;;
    *) echo "unknown stage $stage"; exit 2 ;;
  esac
done
say "done"
exit $failed
