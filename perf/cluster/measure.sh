# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# What the job scripts have in common: they tell how to launch ranks, this measures and reports.

# shellcheck disable=SC2154 # set by the job script
: "${all_ranks:?} ${ranks_per_node:?} ${cores_per_node:?}"
for module in ${MODULES:-}; do module load "$module"; done
program=${BUILD:-build/cuda}/perf/${PROGRAM:-kokkos_host_spaces_perf}
results=${RESULTS:-results-${SLURM_JOB_ID:-${PBS_JOBID:-}}}
for file in "$program" perf/report.py; do
  if [ ! -e "$file" ]; then
    echo "$file is missing in $PWD: submit from the root of the repository, and name the build directory in BUILD" >&2
    exit 2
  fi
done
mkdir -p "$results"

# The threads of a rank stay on the cores that the rank has taken.
export OMP_PROC_BIND=false

files=()
for ranks in ${RANKS:-$(printf '%s\n' 1 "$all_ranks" | sort -nu)}; do
  on_each_node=$((ranks < ranks_per_node ? ranks : ranks_per_node))
  if ((ranks > all_ranks || ranks % on_each_node != 0)); then
    echo "$ranks ranks do not fit the job, which has $all_ranks, $ranks_per_node on each node" >&2
    exit 2
  fi
  export OMP_NUM_THREADS=$((cores_per_node / ranks_per_node > 0 ? cores_per_node / ranks_per_node : 1))
  echo "Measuring with $ranks ranks, $on_each_node on each node, $OMP_NUM_THREADS threads each"
  # shellcheck disable=SC2086 # ARGUMENTS are words
  launch "$ranks" "$((ranks / on_each_node))" "$on_each_node" \
    "$program" ${ARGUMENTS:---full} --json "$PWD/$results/$ranks-ranks.raw.json"
  if ! grep -q "\"ranks\": \"$ranks\"" "$results/$ranks-ranks.raw.json"; then
    echo "Not $ranks ranks measured, but each one alone: build with MPI, that of the launcher" >&2
    exit 2
  fi
  python3 perf/report.py condense "$results/$ranks-ranks.raw.json" "$results/$ranks-ranks.json"
  files+=("$results/$ranks-ranks.json")
done

python3 perf/report.py "${files[@]}" --output "$results/report" ||
  echo "No report here: where there is matplotlib, run: python3 perf/report.py ${files[*]} --output DIR" >&2
# 4: no goal is meant for this machine.
python3 perf/report.py "${files[@]}" --check || [ $? -eq 4 ]
