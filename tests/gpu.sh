#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Everything that only a GPU can show, on a machine that has one:
#
#   bash tests/gpu.sh <results folder> [<stage>...]    stages: build test cost stress sanitize perf
#                                                  (these by default), reframe (has to be installed),
#                                                  several: for several GPUs, built with MPI; node:
#                                                  what ranks of a node share and send, built with MPI, and
#                                                  without a build before: kokkos, its own unit tests in our spaces,
#                                                  and configurations, conformance with relocatable device code
#
# Arguments of the first cmake call can be given in $CMAKE_ARGS, the tools of sanitize and the seconds that one may
# take for a share of the cases in $TOOLS and $LIMIT, how often ReFrame runs in $RUNS.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
folder=${1:?a folder for results}
if ! results=$(mkdir -p "$folder" && cd "$folder" && pwd) || [ ! -w "$results" ]; then
  echo "gpu.sh: the folder for results ($folder) cannot be made or written: name another" >&2
  exit 2
fi
shift
[ $# -gt 0 ] || set -- build test cost stress sanitize perf
build=build/cuda
failed=0
export OMP_PROC_BIND=false

# The tools run kernels one by one, some hundred times as long as without them, and take the answer "a stream captures"
# for an error: without cases for that, those that measure and those with billions of elements, and few random ones.
# Nor with Kokkos' own scan: racecheck finds hazards in that of Kokkos 5.0.
# Each core has a process with a share of the cases. Tells how each share ended, and which cases failed or took too long.
sanitize() {
  local shares=$((2 * $(nproc))) tool code
  export programs=$build/tests/memspaces results shares
  export KOKKOS_HOST_SPACES_TEST_STREAMED=10 KOKKOS_HOST_SPACES_TEST_ELEMENTS=20000 \
    OMP_NUM_THREADS=2
  rm -f "$results"/sanitizer_*.log
  # shellcheck disable=SC2016
  for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
    for ((share = 0; share < shares; ++share)); do echo "$tool $share memspaces_tests"; done
    for ((share = 0; share < shares; ++share)); do echo "$tool $share conformance_tests"; done
  done | xargs -P "$(nproc)" -L 1 bash -c '
    log=$results/sanitizer_$0_$1_$2.log
    timeout --signal=INT --kill-after=20 "${LIMIT:-300}" compute-sanitizer --tool "$0" --error-exitcode 9 \
      --launch-timeout 0 "$programs/$2" "~[async]~[capture]~[large]~[scan_of_kokkos]" \
      --shard-count "$shares" --shard-index "$1" --allow-running-no-tests > "$log" 2>&1
    code=$?
    printf "%s %s %2d of %d, exit code %d: %s\n" "$0" "$2" "$1" "$shares" "$code" "$(grep SUMMARY "$log" || tail -n 1 "$log")"
    # A case stands between lines of dashes, and behind them what happened.
    awk "/^-----/ { inside = !inside; if (inside) name = \"\"; next } inside { name = name \$0 \" \" }
         /FAILED:\$/ && !told[name]++ { print \"  FAILED: \" name }" "$log"
    [ $code -eq 0 ] || [ $code -eq 4 ]'  # 4: all of them need more GPUs
  code=$?
  for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
    grep -qs "All tests passed" "$results/sanitizer_$tool"_*.log || { code=1; echo "  FAILED: $tool ran nothing"; }
  done
  return $code
}

# Checked before the first one begins: hours may lie before the last.
will_be_built() { [[ " $* " = *" build "* || -d $build/tests ]]; }
for stage in "$@"; do
  why=
  case $stage in
    build | kokkos | configurations)
      command -v "${CUDACXX:-nvcc}" > /dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -n "${CMAKE_ARGS:-}" ] ||
        why="there is no nvcc in PATH or /usr/local/cuda/bin" ;;
    test | cost | stress | perf | sanitize | several | node | reframe)
      will_be_built "$@" || why="nothing is built in $build, and the stage build is not asked for" ;;&
    sanitize) command -v compute-sanitizer > /dev/null || why="there is no compute-sanitizer in PATH" ;;
    several) nvidia-smi -L 2> /dev/null | grep -q '^GPU ' || why="no GPU is visible" ;;&
    several | node) command -v mpiexec > /dev/null || why="there is no mpiexec in PATH" ;;
    reframe) command -v reframe > /dev/null || [ -x "$build/tools/reframe/bin/reframe" ] || [ -x build/tools/reframe/bin/reframe ] ||
      why="reframe is neither in PATH nor in build/tools/reframe" ;;
    test | cost | stress | perf) ;;
    *) why="it is none of build test cost stress sanitize perf several node reframe kokkos configurations" ;;
  esac
  [ -z "$why" ] || { echo "gpu.sh: the stage $stage cannot run ($why): leave it out, or mend that" >&2; exit 2; }
done

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
      check ctest --test-dir "$build" --label-regex gpu --parallel 4 --output-on-failure --timeout 300 \
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
    sanitize)
      sanitize || failed=1
      ;;
    perf)  # perf/results/README.md tells how the results in the repository are made.
      check "$build/perf/kokkos_host_spaces_perf" --json "$results/perf.json" \
        > "$results/perf.txt" 2> "$results/perf.err"
      cat "$results/perf.txt"
      ;;
    several)  # The suite by one rank, by two and so on, loops over several GPUs, and how an application scales.
      gpus=$(nvidia-smi -L | grep -c '^GPU ')
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
    node)  # A table of TABLE MiB on 8 ranks, halos around 2 ranks, messages, and ranks that are killed; one GPU serves several.
      export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
      programs=$build/tests/memspaces/mpi
      for n in 2 4; do check timeout 300 mpiexec -n $n "$programs/memspaces_ranks"; done
      for n in 2 8; do
        check timeout 400 mpiexec -n $n "$programs/node_measure" table "${TABLE:-8192}" 7 "$results/table_$n.json"
      done
      check timeout 400 mpiexec -n 2 "$programs/node_measure" exchange "${FACE:-64}" 30 "$results/exchange.json"
      check timeout 100 mpiexec -n 2 "$programs/node_measure" message 32 7 "$results/message.json"
      check bash tests/memspaces/mpi/killed_ranks.sh 20 mpiexec -n 2 "$programs/memspaces_ranks"
      ;;
    kokkos)  # Builds Kokkos, the library and these tests alone: 3 minutes on 16 cores.
      # shellcheck disable=SC2086
      check cmake --preset cuda -B build/kokkos --no-warn-unused-cli -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON \
        -DKokkosHostSpaces_ENABLE_PERF=OFF ${CMAKE_ARGS:-} > "$results/kokkos.log" 2>&1
      check ctest --test-dir build/kokkos --tests-regex kokkos_unit_tests --verbose >> "$results/kokkos.log" 2>&1
      grep -E "(FAILED|PASSED|SKIPPED) *\]|tests (passed|failed)|rror:|Error" "$results/kokkos.log" | tail -n 60
      ;;
    configurations)  # The conformance program by nvcc_wrapper with -rdc=true; builds Kokkos and the library anew.
      check bash tests/configurations.sh build/configurations cuda > "$results/configurations.txt" 2>&1
      cat "$results/configurations.txt"
      ;;
    reframe)  # Accepts an unchanged build, RUNS times in a row, and none whose every sample takes 10 % longer.
      PATH=$PATH:$PWD/build/tools/reframe/bin
      accept() {
        BUILD=$PWD/$build reframe --nocolor --prefix "$results/reframe" -C perf/cluster/reframe/settings.py \
          -c perf/cluster/reframe -r "$@" > "$results/reframe.log" 2>&1
      }
      for run in $(seq "${RUNS:-20}"); do
        begin=${EPOCHREALTIME//[!0-9]/}  # in microseconds
        if accept; then verdict=green; else verdict=red failed=1; fi
        tenths=$(((${EPOCHREALTIME//[!0-9]/} - begin) / 100000))
        echo "run $run: $verdict, $((tenths / 10)).$((tenths % 10)) s, $(grep -oE "Ran .*" "$results/reframe.log")"
        grep -E "FAIL |Reason" "$results/reframe.log" | sed "s/^/run $run: /"
      done
      accept -n 'group=(vector|copy|transport|stream)%' \
        -S program="python3 -B $PWD/tests/perf/slower.py 1.1 $PWD/$build/perf/kokkos_host_spaces_perf"
      slower=$(grep -c 'FAIL ' "$results/reframe.log")
      [ "$slower" -ge 4 ] || { failed=1; echo "FAILED: a slowdown of 10 % was noticed in $slower of 4 groups only"; }
      grep -E "OK |FAIL |Reason" "$results/reframe.log"
      ;;
  esac
done
say "done"
exit $failed
