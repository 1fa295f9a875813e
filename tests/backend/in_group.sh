#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# in_group.sh <command>...: runs it where its control group seems to have a limit of 256 MiB, of which other
# processes hold 64 MiB. No control group is changed: in a mount namespace of its own the files of one are made
# up, in the folder $KHS_TEST_GROUP. Ends with 4, skipped, if the system gives no namespace.
enter=(unshare --mount)
"${enter[@]}" true 2> /dev/null || enter=(unshare --mount --map-root-user)
"${enter[@]}" true 2> /dev/null || { echo "skipped: this system gives no mount namespace"; exit 4; }
"${enter[@]}" bash -c '
  group=$(sed -n "s/^[0-9]*:\(.*,\)\?memory\(,.*\)\?://p" /proc/self/cgroup)
  if [ -n "$group" ]; then
    options=memory limit=memory.limit_in_bytes stat="total_rss 67108864"
    mount=$(grep " - cgroup .*[ ,]memory\(,\|$\)" /proc/self/mountinfo | cut -d" " -f5 | head -1)
  else
    group=$(sed -n "s/^0:://p" /proc/self/cgroup)
    limit=memory.max stat="anon 67108864"
    mount=$(grep " - cgroup2 " /proc/self/mountinfo | cut -d" " -f5 | head -1)
  fi
  [ -n "$mount" ] && mount -t tmpfs none "$mount" || { echo "skipped: no control groups"; exit 4; }
  export KHS_TEST_GROUP=$mount$group KHS_TEST_LIMIT=$mount$group/$limit
  mkdir -p "$KHS_TEST_GROUP" && echo "$stat" > "$KHS_TEST_GROUP/memory.stat" && echo 268435456 > "$KHS_TEST_LIMIT"
  exec "$@"' in_group "$@"
