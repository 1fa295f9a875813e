#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# environments.sh BUILD [NAME...]: runs the tests of the backend in the build folder BUILD, in each environment, or in
# those named.

build=$(cd "$1" && pwd) || exit
shift
here=$(cd "$(dirname "$0")" && pwd)
failed=
cgroup=/sys/fs/cgroup/memory/khs_environments limit=memory.limit_in_bytes
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  cgroup=/sys/fs/cgroup/khs_environments limit=memory.max
fi

by_ctest() {
  ctest --test-dir "$build" -R '^backend_tests_(host|fake)[.]' -LE long -E "${left_out:-^$}" \
    -j "$(nproc)" --timeout 300 --no-tests=error --output-on-failure
}

# The tests that apply to every CUDA. Others test what needs events of contexts, which CUDA has since 12.5.
without_context_events() {
  local tests
  for tests in '[#'{Contexts,Copies,ForeignRegistrations,ForkedMemory,Registry,Replays}] "failure 5:*,failure 6: streams*,failure 7:*"; do
    "$build"/tests/backend/backend_tests_fake -# "$tests" || return 1
  done
}

# run NAME COMMAND [TESTS]: COMMAND sets up the environment in a subshell. Where it fails, the environment is skipped.
run() {
  case " $names " in "  " | *" $1 "*) ;; *) return ;; esac
  if ! (eval "$2") > /dev/null 2>&1; then
    echo "$1: skipped"
    return
  fi
  local log result=passed
  log=$(mktemp)
  (eval "$2" && ${3:-by_ctest}) > "$log" 2>&1 || result=FAILED
  if [ $result = FAILED ]; then
    failed="$failed $1"
    grep -vE "^ +Start | Passed " "$log"
  fi
  echo "$1: $result"
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
run huge_pages_off 'export KOKKOS_HOST_SPACES_HUGE_PAGES=off'
# Left out: tests that compare the described machine with the one that they run on.
of_this_machine='this machine has a core|where memory cannot be bound'
for machine in one-node two-nodes gpu-memory-nodes gb200; do
  run "$machine" "left_out='$of_this_machine'; export HWLOC_XMLFILE=$here/backend/topologies/$machine.xml"
done
run memlock_64KiB 'ulimit -l 64'
run addresses_16GiB 'ulimit -v $((16 << 20))'
run few_mappings "LD_PRELOAD=$(find "$build" -name libfew_mappings.so); export LD_PRELOAD; [ -n \"\$LD_PRELOAD\" ]"
run read_only_home 'export HOME=/proc; unset XDG_CACHE_HOME'
run limit_changes change_limit
run cuda_12_2 'export KOKKOS_HOST_SPACES_TEST_OLD_CUDA=1' without_context_events
[ -z "$failed" ] || { echo "failed:$failed" && exit 1; }
