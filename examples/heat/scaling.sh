#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Strong and weak scaling on one machine, into one JSON file:
#
#   bash examples/heat/scaling.sh <program heat> <results.json>
#
# The defaults are for GPUs of 80 GiB or more, one for each process. These variables change them:

PROCESSES=${PROCESSES:-1 2 4}      # numbers of processes
STRONG=${STRONG-512 1024}          # cells along each axis of the whole grid
WEAK=${WEAK-512 1024}              # cells along each axis of each process's part
STEPS=${STEPS:-100}
MPIRUN=${MPIRUN:-mpirun}           # and its options

set -euo pipefail
program=${1:?the program heat}
results=${2:?a file for the results}
parts=$(mktemp -d)
trap 'rm -r "$parts"' EXIT
export OMP_PROC_BIND=${OMP_PROC_BIND:-false}

number=1000
run() {  # run <processes> <option> <cells>
  number=$((number + 1))
  echo "==> $1 processes, $2 $3 ($SECONDS s)"
  # shellcheck disable=SC2086
  $MPIRUN -n "$1" "$program" "$2" "$3" --steps "$STEPS" --json "$parts/$number.json"
}

for processes in $PROCESSES; do
  for n in $STRONG; do run "$processes" --n "$n"; done
  for n in $WEAK; do run "$processes" --n-local "$n"; done
done

separator='['
for part in "$parts"/*.json; do
  printf '%s\n' "$separator"
  cat "$part"
  separator=,
done > "$results"
echo ']' >> "$results"
echo "==> $results ($SECONDS s)"
