# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Functions of all job scripts, which set the folder perf/ and the numbers of ranks and cores, and define
# how to launch ranks:
#   launch <ranks> <nodes> <ranks on each node> <command>...

# shellcheck disable=SC2154 # set by the job script
: "${perf:?}"

fail() { echo "$*" >&2; exit 2; }

for ranks in ${RANKS:-}; do
  [[ $ranks =~ ^[1-9][0-9]*$ ]] || fail "RANKS: '$ranks' is no number of ranks: name some, such as \"1 2 4\""
done

# Each rank sees all GPUs and cores of its node, takes the GPU of its local rank, and the cores near it.
launch_by_mpiexec() {
  case $(mpiexec --version 2>&1) in
    *"Open MPI"* | *OpenRTE* | *PRRTE*)
      mpiexec -n "$1" --map-by "ppr:$3:node" --bind-to none -x OMP_NUM_THREADS -x OMP_PROC_BIND "${@:4}" ;;
    *) I_MPI_PIN=off mpiexec -n "$1" -ppn "$3" "${@:4}" ;;
  esac
}

# Print the number of GPUs that CUDA would see here.
count_gpus() {
  if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
    tr ',' '\n' <<< "$CUDA_VISIBLE_DEVICES" | grep -c .
  else
    nvidia-smi -L 2> /dev/null | grep -c '^GPU '
  fi
}

# On this machine: as many ranks as it has GPUs, or the most that RANKS names.
use_this_machine() {
  # shellcheck disable=SC2046,SC2086 # RANKS are words
  all_ranks=$(printf '%s\n' 1 ${RANKS:-$(count_gpus)} | sort -n | tail -n 1)
  ranks_per_node=$all_ranks
  cores_per_node=$(nproc)
  # shellcheck disable=SC2317 # called by the job script
  launch() { if [ "$1" -eq 1 ]; then "${@:4}"; else launch_by_mpiexec "$@"; fi; }
}

# Sets `program`: of the build directory in BUILD, beside this file where it is installed, in PATH, or of build/cuda.
find_program() {
  local name=${PROGRAM:-kokkos_host_spaces_perf}
  if [ -n "${BUILD:-}" ]; then
    program=$BUILD/perf/$name
  elif [ -x "$perf/../../../bin/$name" ]; then
    program=$perf/../../../bin/$name
  else
    program=$(command -v "$name" || echo "build/cuda/perf/$name")
  fi
  [ -x "$program" ] ||
    fail "$program is missing in $PWD: name the build directory in BUILD, or load the module that has the suite"
}

# measure_with <ranks>
measure_with() {
  local ranks=$1 on_each_node=$(($1 < ranks_per_node ? $1 : ranks_per_node)) raw=$results/$1-ranks.raw.json status=0
  ((ranks <= all_ranks && ranks % on_each_node == 0)) ||
    fail "$ranks ranks do not fit the job, which has $all_ranks, $ranks_per_node on each node"
  export OMP_NUM_THREADS=$((cores_per_node / ranks_per_node > 0 ? cores_per_node / ranks_per_node : 1))
  rm -f "$raw"  # of an earlier run: it is not to be judged
  echo "Measuring with $ranks ranks, $on_each_node on each node, $OMP_NUM_THREADS threads each"
  # shellcheck disable=SC2086 # ARGUMENTS are words
  launch "$ranks" "$((ranks / on_each_node))" "$on_each_node" \
    "$program" ${ARGUMENTS:---full} --json "$raw" || status=$?
  # A wrong result, which is in the file, makes it 1, or whatever the launcher makes of it.
  grep -qs "\"ranks\": \"$ranks\"" "$raw" || {
    [ $status -eq 0 ] || fail "The suite ended with exit code $status, without results: what it said is above"
    fail "Not $ranks ranks measured, but each one alone: build with MPI, that of the launcher"
  }
  python3 "$perf/report.py" condense "$raw" "$results/$ranks-ranks.json"
  files+=("$results/$ranks-ranks.json")
  [ $status -eq 0 ] || suite_failed+=("with $ranks ranks the suite ended with exit code $status")
}

# Measures, makes the report, and ends the job: with 1 if a result is wrong or not accepted.
measure() {
  local module ranks files=() program results suite_failed=() accepted=0
  set +u  # not all that a module does stands that
  for module in ${MODULES:-}; do module load "$module" || fail "The module $module cannot be loaded: correct MODULES"; done
  set -u
  find_program
  # Not after hours.
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    fail "There is no python3 of version 3.9 or later, which judges results: name a module that has it in MODULES"
  ((ranks_per_node > 0)) || fail "The job has $all_ranks ranks, fewer than nodes: submit it with one for each GPU"
  results=${RESULTS:-results-${SLURM_JOB_ID:-${PBS_JOBID:-$(date +%Y%m%d-%H%M%S)}}}
  mkdir -p "$results" || exit 2
  results=$(cd "$results" && pwd)
  # The threads of a rank stay on the cores that the rank has taken.
  export OMP_PROC_BIND=false

  for ranks in ${RANKS:-$(printf '%s\n' 1 "$all_ranks" | sort -nu)}; do measure_with "$ranks"; done

  python3 "$perf/report.py" "${files[@]}" --output "$results/report.html" || [ $? -eq 1 ] || exit 2
  # 4: nothing is judged on this machine.
  python3 "$perf/report.py" "${files[@]}" --check=acceptance || accepted=$?
  [ ${#suite_failed[@]} -eq 0 ] || printf 'NOT ACCEPTED: %s\n' "${suite_failed[@]}" >&2
  if [ $accepted -ne 0 ] && [ $accepted -ne 4 ]; then exit $accepted; fi
  [ ${#suite_failed[@]} -eq 0 ]
}
