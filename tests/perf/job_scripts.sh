#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   bash job_scripts.sh <perf/> <folder to work in>
#
# What goes wrong around the suite ends a job script with exit code 2, and words that say what; what it started with, or
# an earlier run, changes nothing. The suite is a script here, which leaves a mark that it was started.

perf=$1 work=$2 failed=0
rm -rf "$work"
mkdir -p "$work/a build/perf" "$work/no python" "$work/gpus" && cd "$work" || exit 2
suite="a build/perf/kokkos_host_spaces_perf"
cat > "$suite" << 'EOF'
#!/bin/sh
touch started
for file; do :; done
[ -d "$(dirname "$file")" ] || exit 5
exit ${CODE:-3}
EOF
printf '#!/bin/sh\nexit 1\n' > "no python/python3"
printf '#!/bin/sh\nprintf "GPU 0: of a test\\nGPU 1: of a test\\n"\n' > gpus/nvidia-smi
chmod +x "$suite" "no python/python3" gpus/nvidia-smi
for name in SLURM_JOB_ID PBS_NODEFILE MODULES RANKS ARGUMENTS; do unset $name; done
export BUILD="a build" RESULTS="the results"

# ends_with <words> <started|not started> [<variable>=<value>...]
ends_with() {
  local words=$1 started=$2 output code
  rm -f started
  output=$(env "${@:3}" bash "$perf/cluster/suite.slurm" 2>&1)
  code=$?
  if [ -e started ]; then set -- started; else set -- "not started"; fi
  if [ $code -ne 2 ] || [ "$1" != "$started" ] || ! tail -n 3 <<< "$output" | grep -q -e "$words"; then
    printf 'exit code %s, %s, and these are not the last words: %s\n%s\n' "$code" "$1" "$words" "$output"
    failed=1
  fi
}

ends_with "exit code 3, without results" started
mkdir -p "the results" && echo '"ranks": "1"' > "the results/1-ranks.raw.json"
ends_with "exit code 3, without results" started
ends_with "Not 1 ranks measured" started CODE=0
ends_with "exit code 3, without results" started CDPATH=.:/
for ranks in 0 -1 two 1.5; do ends_with "'$ranks' is no number of ranks" "not started" RANKS="$ranks"; done
ends_with "module none cannot be loaded" "not started" MODULES=none
ends_with "no python3 of version 3.9" "not started" PATH="$PWD/no python:$PATH"
ends_with "is missing in .*: name the build directory" "not started" BUILD=nowhere
ends_with "has 0 ranks" "not started" SLURM_JOB_ID=1 SLURM_SUBMIT_DIR="$PWD" SLURM_JOB_NUM_NODES=1

# ranks_here <number> [<variable>=<value>]: without a batch system, on a machine with 2 GPUs.
ranks_here() {
  local ranks
  ranks=$(env PATH="$work/gpus:$PATH" "${@:2}" bash -c \
    'set -euo pipefail; perf=$0; . "$perf/cluster/measure.sh"; use_this_machine; echo "$all_ranks"' "$perf")
  [ "$ranks" = "$1" ] || { echo "$ranks ranks, not $1, with ${*:2}"; failed=1; }
}
ranks_here 2
ranks_here 1 CUDA_VISIBLE_DEVICES=1
ranks_here 1 CUDA_VISIBLE_DEVICES=
ranks_here 4 RANKS="4 1" CUDA_VISIBLE_DEVICES=
exit $failed
