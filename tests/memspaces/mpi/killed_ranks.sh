#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Runs a case of the ranks in which one is killed, so many times: killed_ranks.sh <times> <launch>... <case>
# Each run must end, and their tables (14 MiB each) must not pile up.

set -u
times=$1
shift
shared() { awk '/^Shmem:/ { print $2 }' /proc/meminfo; }
before=$(shared)
RANDOM=1
for ((i = 0; i < times; ++i)); do
  KOKKOS_HOST_SPACES_TEST_KILL_AFTER=$((RANDOM * 12)) timeout 60 "$@" > killed_ranks.log 2>&1
  code=$?
  if grep -q "libcuda.so.1 => not found" killed_ranks.log || [ $code -eq 4 ]; then exit 4; fi
  # UCX aborts where it cannot read the memory of a rank that is gone.
  if grep -q "process_vm_readv.*No such process" killed_ranks.log; then code=9; fi
  case $code in
    9 | 137) ;;  # how MPICH and Open MPI tell of SIGKILL
    *)
      cat killed_ranks.log
      echo "run $i ended with $code: 124 hung, 3 read a wrong table, 0 was not killed"
      exit 1
      ;;
  esac
done
grown=$((($(shared) - before) / 1024))
echo "$times ranks were killed; shared memory has grown by $grown MiB"
[ "$times" -lt 100 ] || [ $grown -lt $((times * 14 / 4)) ]
