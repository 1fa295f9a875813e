#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# environments.sh BUILD [NAME...]: runs the tests of the backend, which BUILD has, in each environment, or in those named.
# What an environment makes impossible for a test itself is left out there.

build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
failed=
cgroup=/sys/fs/cgroup/memory/khs_environments limit=memory.limit_in_bytes
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  cgroup=/sys/fs/cgroup/khs_environments limit=memory.max
fi

# run NAME LEFT_OUT COMMAND: the command sets the environment of a subshell; false: it cannot.
run() {
  case " $names " in "  " | *" $1 "*) ;; *) return ;; esac
  if ! (eval "$3") > /dev/null 2>&1; then
    echo "$1: skipped"
    return
  fi
  local log result=passed
  log=$(mktemp)
  (eval "$3" && ctest --test-dir "$build" -R '^backend_tests_(host|fake)[.]' -LE long -E "$2" \
    -j "$(nproc)" --timeout 300 --output-on-failure) > "$log" 2>&1 || result=FAILED
  grep -q 'tests passed' "$log" || result=FAILED
  if [ $result = FAILED ]; then
    failed="$failed $1"
    cat "$log"
  fi
  echo "$1: $result: $(grep 'tests passed' "$log")"
  rm -f "$log"
}

# Raises and lowers the limit of the group while the tests run.
change_limit() {
  mkdir -p $cgroup && echo $BASHPID > $cgroup/cgroup.procs || return 1
  (
    while sleep 0.2; do
      for bytes in 8G 3G; do echo $bytes > $cgroup/$limit; done
    done
  ) &
  changer=$!
  trap 'kill $changer' EXIT
}

names="$*"
nothing='^$'
run huge_pages_off "$nothing" 'export KOKKOS_HOST_SPACES_HUGE_PAGES=off'
for machine in one-node two-nodes gpu-memory-nodes gb200; do
  run "$machine" "$nothing" "export HWLOC_XMLFILE=$here/backend/topologies/$machine.xml"
done
run memlock_64KiB "$nothing" 'ulimit -l 64'
run addresses_16GiB "$nothing" 'ulimit -v $((16 << 20))'
run few_mappings "$nothing" "export LD_PRELOAD=$(find "$build" -name 'libfew_mappings.so')"
run read_only_home "$nothing" 'export HOME=/proc; unset XDG_CACHE_HOME'
run limit_changes "$nothing" change_limit
run cuda_12_2 "$nothing" 'export KOKKOS_HOST_SPACES_TEST_OLD_CUDA=1'
[ -z "$failed" ] || { echo "failed:$failed" && exit 1; }
