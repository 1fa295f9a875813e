#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   sh audit.sh <words> <program> [<argument>...]
#
# The program runs to its end, and the audit, which KOKKOS_TOOLS_LIBS loads into it, has these words
# for it, which are also in the file of KOKKOS_HOST_SPACES_AUDIT.

words=$1
shift
rm -f "$KOKKOS_HOST_SPACES_AUDIT"
output=$("$@" 2>&1)
code=$?
printf '%s\n' "$output"
[ $code -eq 0 ] || exit $code
printf '%s\n' "$output" | grep -qF -- "$words" || exit 1
grep -qF -- "$words" "$KOKKOS_HOST_SPACES_AUDIT"
