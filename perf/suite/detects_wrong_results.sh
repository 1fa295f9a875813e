#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   sh detects_wrong_results.sh <kokkos_host_spaces_perf>
#
# With wrong results every benchmark reports an error, and the exit code is that of a wrong result: a
# crash or another error will not do. Exit code 4: there is no GPU.

output=$("$1" --quick --plant-error 2>&1)
code=$?
printf '%s\n' "$output"
[ $code -ne 4 ] || exit 4
errors=$(printf '%s\n' "$output" | grep -c ': ERROR: ')
benchmarks=$("$1" --quick --list 2> /dev/null | wc -l)
echo "exit code $code, $errors of $benchmarks benchmarks report an error"
[ $code -eq 1 ] && [ "$errors" -gt 0 ] && [ "$errors" -eq "$benchmarks" ]
