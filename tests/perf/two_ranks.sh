#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   sh two_ranks.sh <program> [<argument>...]
#
# Two processes, each of which reads what the other one writes, are ranks by the variables of a launcher.
# Their files together become that of KOKKOS_HOST_SPACES_AUDIT.

folder=$(mktemp -d) || exit 1
trap 'rm -r "$folder"' EXIT
mkfifo "$folder/to_0" "$folder/to_1" || exit 1
export OMPI_COMM_WORLD_SIZE=2
OMPI_COMM_WORLD_RANK=0 "$@" < "$folder/to_0" > "$folder/to_1" &
OMPI_COMM_WORLD_RANK=1 "$@" > "$folder/to_0" < "$folder/to_1"
code=$?
wait $! || exit
[ $code -eq 0 ] || exit $code
cat "${KOKKOS_HOST_SPACES_AUDIT%.txt}".[01].txt > "$KOKKOS_HOST_SPACES_AUDIT"
