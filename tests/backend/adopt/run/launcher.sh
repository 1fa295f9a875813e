#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# What kokkos_host_spaces_run does with programs of every kind, with a library that only says that it is there.
# bash launcher.sh <kokkos_host_spaces_run> <C++ compiler> <empty folder>

set -u
launcher=$1 compiler=$2
rm -rf "$3" && mkdir -p "$3/bin" "$3/lib" && cd "$3" || exit 1
unset LD_PRELOAD OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK SLURM_PROCID "${!KOKKOS_HOST_SPACES_@}"
failed=0 out='' err='' code=0

fail() { echo "FAILED: $*"; echo "  code $code, stdout: $out"; echo "  stderr: $err"; failed=1; }
run() { out=$(./bin/kokkos_host_spaces_run "$@" 2> err); code=$?; err=$(cat err); }
is_adopted() { run "$@"; [[ $err == *"adopted"* ]] || fail "not adopted: $*"; }
# runs_as_it_is <word of the reason> <command...>
runs_as_it_is() {
  run "${@:2}"
  [[ $err != *"adopted"* ]] || fail "adopted: ${*:2}"
  [[ $err == "kokkos_host_spaces_run: "*" runs as it is ("*"$1"*"): "* ]] || fail "does not say why: ${*:2}"
  [[ $(wc -l < err) == 1 || $1 == *sanitizer* ]] || fail "more than one line: ${*:2}"
}
# ends <code> <words on stderr> <command...>
ends() {
  run "${@:3}"
  [[ $code == "$1" && $err == *"$2"* ]] || fail "expected $1 and '$2': ${*:3}"
}
compile() { "$compiler" "$@" 2> /dev/null; }

cp "$launcher" bin/kokkos_host_spaces_run || exit 1
cat > library.cpp << 'END'
#include <cstdlib>
#include <unistd.h>
__attribute__((constructor)) static void start() {
  if (write(2, "adopted\n", 8) == 8 && !std::getenv("KOKKOS_HOST_SPACES_ADOPT_CHILDREN")) unsetenv("LD_PRELOAD");
}
END
cat > program.cpp << 'END'
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
struct Problem {};
int main(int argc, char** argv) {
  try { throw Problem(); } catch (Problem const&) { std::printf("%s\n", argv[0]); }
  for (int i = 1; i < argc; ++i) std::printf("[%s]\n", argv[i]);
  if (argc > 1 && std::strcmp(argv[1], "killed") == 0) { std::fflush(stdout); std::raise(SIGKILL); }
  for (int c; argc > 1 && std::strcmp(argv[1], "cat") == 0 && (c = std::getchar()) != EOF;) std::putchar(c);
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
END
echo 'int main() { return 3; }' > plain.cpp
compile -shared -fPIC library.cpp -o bin/libkokkos_host_spaces_adopt.so && compile program.cpp -o program || exit 1

# What is adopted.
is_adopted ./program
compile -no-pie -fno-pie program.cpp -o no_pie && is_adopted ./no_pie
compile -s program.cpp -o stripped && is_adopted ./stripped
PATH=$PWD:$PATH is_adopted program 'a b' ''
[[ $out == program$'\n'"[a b]"$'\n'"[]" ]] || fail "arguments"
ln -s bin/kokkos_host_spaces_run link
err=$(./link ./program 2>&1 > /dev/null); [[ $err == *adopted* ]] || fail "through a link"

# What is not.
compile -static program.cpp -o static && runs_as_it_is "statically linked" ./static
compile -static-pie -fPIE program.cpp -o static_pie && runs_as_it_is "statically linked" ./static_pie
cp program set_user_id && chmod u+s set_user_id && runs_as_it_is "set-user-id" ./set_user_id
cp program set_group_id && chmod g+s set_group_id && runs_as_it_is "set-user-id" ./set_group_id
for sanitizer in address thread leak; do
  compile -fsanitize=$sanitizer program.cpp -o $sanitizer && runs_as_it_is "sanitizer ${sanitizer:0:1}" ./$sanitizer
done
compile -fsanitize=address -static-libasan program.cpp -o static_asan && runs_as_it_is "sanitizer asan" ./static_asan
runtime=$("$compiler" -print-file-name=libasan.so)
# Two sanitizers do not run in one process: not with that of a launcher which has ThreadSanitizer.
[[ $runtime != */* ]] || grep -q __tsan_init "$launcher" || LD_PRELOAD=$runtime runs_as_it_is "has a sanitizer" ./program
compile -static plain.cpp -o plain && run ./plain
[[ $code == 3 ]] || fail "exit code of what runs as it is"
compile program.cpp -Wl,--dynamic-linker=/lib/ld-other.so.1 -o other_loader && run ./other_loader
[[ $err == *"(its loader is /lib/ld-other.so.1"*"cannot run ./other_loader"* && $code == 127 ]] || fail "another loader"

# No program, or none for this machine: whatever the file holds.
byte() { printf %b "\\x$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null; }
cp program foreign && byte foreign 18 2a && run ./foreign
[[ $err == *"another architecture"* && $code != 0 ]] || fail "another architecture"
cp program narrow && byte narrow 4 01 && run ./narrow
[[ $err == *"another architecture"* && $code != 139 ]] || fail "32 bits"
for size in 0 1 4 16 18 63 64 100 700; do
  head -c $size program > "cut" && chmod +x cut && run ./cut
  [[ $err == *"kokkos_host_spaces_run: "* || $code == 0 ]] || fail "the first $size bytes of a program"
done
ends 127 "cannot run nothing_of_this_name: No such file" nothing_of_this_name
[[ $(wc -l < err) == 1 ]] || fail "more than one line"
ends 127 "cannot run ./nothing: No such file" ./nothing
ends 126 "cannot run ./bin: Permission denied" ./bin
cp program closed && chmod a-x closed && ends 126 "cannot run ./closed: Permission denied" ./closed
echo 'echo by $0; exit 5' > text && chmod +x text && run ./text
[[ $code == 5 && $out == "by ./text" ]] || fail "a text without #! is for sh"
printf '#!' > empty_script && chmod +x empty_script && run ./empty_script

# Scripts: judged by what runs them.
printf '#!/bin/sh\n./program "$@"\n' > script && chmod +x script && is_adopted ./script 7
[[ $code == 7 && $out == *"[7]"* ]] || fail "a script's code and arguments"
is_adopted --children ./script
[[ $(grep -c adopted err) == 2 ]] || fail "--children: the script, and what it starts"
printf '#!%s 1 2\n' "$PWD/program" > of_program && chmod +x of_program && is_adopted ./of_program x
[[ $out == *"[1 2]"*"[./of_program]"*"[x]" ]] || fail "arguments of an interpreter"
printf '#!%s\n' "$PWD/itself" > itself && chmod +x itself && run ./itself
[[ $code == 126 ]] || fail "a script that is its own interpreter"

# Exit code, signals, input and output are the program's own.
for number in 0 1 77 255; do run ./program $number; [[ $code == "$number" ]] || fail "exit code $number"; done
run ./program killed
[[ $code == 137 ]] || fail "killed by a signal"
text=$(printf 'a\nb' | ./bin/kokkos_host_spaces_run ./program cat 2> /dev/null)
[[ $text == *$'a\nb' ]] || fail "standard input"
./bin/kokkos_host_spaces_run /bin/sh -c 'echo $$' > number 2> /dev/null & wait $!
[[ $(cat number) == "$!" ]] || fail "another process"
[[ $(trap '' USR1 CHLD; ./bin/kokkos_host_spaces_run /bin/sh -c 'trap; kill -USR1 $$; echo on' 2> /dev/null) == *on ]] || fail "ignored signals"

# Environment.
compile -shared -fPIC -x c++ - -o other.so <<< 'extern "C" int other() { return 0; }'
printf '#!/bin/sh\necho "$LD_PRELOAD|$KOKKOS_HOST_SPACES_ADOPT|$KOKKOS_HOST_SPACES_ADOPT_REPORT"\n' > environment && chmod +x environment
LD_PRELOAD=$PWD/other.so run --children --relaxed --report=a.%r ./environment
[[ $out == "$PWD/bin/libkokkos_host_spaces_adopt.so:$PWD/other.so|relaxed|a.%r" ]] || fail "environment"
run --children --check ./environment
[[ $out == *"|check|" ]] || fail "--check"
run --report ./environment
[[ $out == "||1" ]] || fail "environment without --children"
KOKKOS_HOST_SPACES_ADOPT=off run ./program
[[ $err == "" && $code == 0 ]] || fail "off"
OMPI_COMM_WORLD_RANK=1 run ./plain
[[ $err == "" && $code == 3 ]] || fail "of many ranks only the first says something"
SLURM_PROCID=0 runs_as_it_is "statically linked" ./plain

# Launchers of many processes.
ends 125 ": srun [options] kokkos_host_spaces_run [options] program" srun -n 2 ./program x
cp program fluxes && is_adopted ./fluxes && cp program srun2 && is_adopted ./srun2
ends 125 ": mpirun [options] kokkos_host_spaces_run [options] program" mpirun -np 2 nothing_of_this_name

# Its own options.
ends 125 "unknown option --no" --no ./program
ends 125 "unknown option --report=" --report= ./program
ends 125 "no program" --report
ends 125 "no program" --
is_adopted -- ./program
run --help
[[ $code == 0 && $out == Usage:* ]] || fail "--help"
run --version
[[ $code == 0 && $out == "kokkos_host_spaces_run "[0-9]* ]] || fail "--version"

# A library that is elsewhere, not at all, or where LD_PRELOAD cannot name it.
mkdir 'a b' && cp bin/* 'a b' && err=$('./a b/kokkos_host_spaces_run' ./program 2>&1 > /dev/null)
[[ $err == *"space or colon"* ]] || fail "a space in the path"
rm bin/libkokkos_host_spaces_adopt.so && runs_as_it_is "is not where it was installed" ./program
exit $failed
