#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   sh refuses.sh <words> <command> [<argument>...]
#
# The command ends with exit code 2, and says these words. Exit code 4: there is no GPU.

words=$1
shift
output=$("$@" 2>&1)
code=$?
printf '%s\n' "$output"
[ $code -ne 4 ] || exit 4
echo "exit code $code"
[ $code -eq 2 ] && printf '%s\n' "$output" | grep -q -e "$words"
