#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
#   sh detects_wrong_results.sh [<launcher of MPI>...] <kokkos_host_spaces_perf> [<option>...]
#
# With wrong results every benchmark reports an error, and the exit code is that of a wrong result: a
# crash or another error will not do. Of a quick run, unless an option is --full. Exit code 4: there is no GPU.

case " $* " in *" --full "*) ;; *) set -- "$@" --quick --repetitions 1 ;; esac
output=$("$@" --plant-error 2>&1)
code=$?
printf '%s\n' "$output"
[ $code -ne 4 ] || exit 4
errors=$(printf '%s\n' "$output" | grep -c ': ERROR: ')
benchmarks=$("$@" --list 2> /dev/null | wc -l)
echo "exit code $code, $errors of $benchmarks benchmarks report an error"
[ $code -eq 1 ] && [ "$errors" -gt 0 ] && [ "$errors" -eq "$benchmarks" ]
