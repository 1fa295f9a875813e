#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   sh job_script.sh <install prefix> <folder to work in> <numbers of ranks> [<option of the suite>...]
#
# Runs what is installed as on a machine without a batch system, from a folder of its own: the job script where it lies,
# and a copy elsewhere, which is what batch systems run. With --plant-error they have to fail. Exit code 4: no GPU.

prefix=$1 work=$2 expected=0
export RANKS="$3"
shift 3
case $* in *--plant-error*) expected=1 ;; esac
export ARGUMENTS="--quick --filter latency/fence $*"
"$prefix/bin/kokkos_host_spaces_perf" --list > /dev/null 2>&1
[ $? -ne 4 ] || exit 4

rm -rf "$work"
mkdir -p "$work/spool" && cd "$work" || exit 2
cp "$prefix/share/kokkos_host_spaces/perf/cluster/suite.slurm" spool/slurm_script
for script in spool/slurm_script "$prefix/share/kokkos_host_spaces/perf/cluster/suite.pbs"; do
  RESULTS=$(basename "$script")
  export RESULTS
  bash "$script"
  code=$?
  for ranks in $RANKS; do
    grep -q "\"ranks\": \"$ranks\"" "$RESULTS/$ranks-ranks.json" || { echo "no results of $ranks ranks"; exit 2; }
  done
  [ -e "$RESULTS/report.html" ] || { echo "no report"; exit 2; }
  [ $code -eq $expected ] || { echo "exit code $code, not $expected"; exit 2; }
done
