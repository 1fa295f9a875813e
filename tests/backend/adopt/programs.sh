#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Programs of many kinds with the library preloaded: they end well, and what was adopted of them is as it should be.
# programs.sh <library> <folder of the programs> <C++ compiler> <launcher> <folder of their sources> <CUDA's headers>
set -u
library=$1 folder=$2 compiler=$3 launcher=$4 sources=$5 headers=$6 failures=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export KOKKOS_HOST_SPACES_TEST_ADOPT=1 KOKKOS_HOST_SPACES_ADOPT_REPORT="$work/report.%r" SLURM_PROCID=7

fails() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }

# expect <words of the report> <command>...: it ends well, and its report has these words.
expect() {
  words=$1; shift
  rm -f "$work"/report.*
  "$@" > "$work/out" 2>&1 || { fails "$* ended with $?"; cat "$work/out" >&2; return; }
  grep -q -- "$words" "$work/report.7" || { fails "$*: the report lacks '$words'"; cat "$work"/report.* >&2; }
}
preloading() { list=$1; shift; env "LD_PRELOAD=$list" "$@"; }
with_library() { preloading "$library" "$@"; }

expect 'page-locked: 2 times' with_library "$folder/adopt_life"
for rank in MV2_COMM_WORLD_RANK PALS_RANKID FLUX_TASK_RANK; do
  expect 'rank 7' env -u SLURM_PROCID "$rank=7" LD_PRELOAD="$library" "$folder/adopt_life"
done
expect 'porting would gain further' with_library "$folder/adopt_life"
expect 'page-locked: 2 times' "$folder/adopt_linked"
expect 'page-locked: 2 times' env KOKKOS_HOST_SPACES_ADOPT_CHILDREN=on LD_PRELOAD="$library" "$folder/adopt_life"
expect 'KOKKOS_HOST_SPACES_ADOPT says so' env KOKKOS_HOST_SPACES_ADOPT=off LD_PRELOAD="$library" "$folder/adopt_life"
expect 'of .*adopt_own_new' with_library "$folder/adopt_own_new"
expect 'of .*static_library' with_library "$folder/adopt_static_library"
strip -o "$work/stripped" "$folder/adopt_static_library" && expect 'of .*stripped' with_library "$work/stripped"
expect 'has no GPU\|page-locked: 2' env -u KOKKOS_HOST_SPACES_TEST_ADOPT LD_PRELOAD="$library" "$folder/adopt_life"
expect 'no libstdc++.so is among' with_library ls "$folder"
expect 'ulimit -v' sh -c "ulimit -v 20000000; LD_PRELOAD=$library $folder/adopt_life"

# A value that makes no sense is told once.
preloading "$library" env KOKKOS_HOST_SPACES_ADOPT=stricter "$folder/adopt_life" 2> /dev/null > /dev/null
told=$(KOKKOS_HOST_SPACES_ADOPT=stricter LD_PRELOAD="$library" "$folder/adopt_life" 2>&1)
case $told in
  *"KOKKOS_HOST_SPACES_ADOPT is 'stricter'"*"strict, relaxed, check, off"*) ;;
  *) fails "a value that makes no sense: $told" ;;
esac

# Run by the launcher, a program that gains nothing says why; of many ranks the first one.
# says <words> <command>...
says() {
  words=$1; shift
  told=$(SLURM_PROCID=0 "$launcher" "$@" 2>&1 > /dev/null) || fails "$* by the launcher ended with $?"
  if [ -z "$words" ]; then [ -z "$told" ]; else echo "$told" | grep -q "gains nothing ($words.*): "; fi ||
    fails "$* by the launcher says '$told'"
}
says '' "$folder/adopt_life"
says '' --children ls "$folder"
says 'no libstdc++.so' ls "$folder"
says '.* is that of .*adopt_static_library' "$folder/adopt_static_library"
printf '#!/bin/sh\n%s\n' "$folder/adopt_life" > "$work/script" && chmod +x "$work/script"
says 'no libstdc++.so' "$work/script"
says "$folder/libadopt_static_runtime.so has a CUDA runtime inside" env "LD_LIBRARY_PATH=$folder" \
  "$folder/adopt_copies" a_static_runtime_ends_locking
[ -z "$("$launcher" ls "$folder" 2>&1 > /dev/null)" ] || fails "the eighth rank says something"

# Children run without it, unless they shall not; other libraries stay. bash has a setenv of its own.
for shell in sh bash; do
  command -v "$shell" > /dev/null || continue
  for list in "$library" "$library:libm.so.6" "libm.so.6:$library" "$library libm.so.6"; do
    left=$(preloading "$list" "$shell" -c 'echo "[$LD_PRELOAD]"; env | grep -c LD_PRELOAD')
    case $left in '[]
0'|'[libm.so.6]
1') ;; *) fails "$list leaves $left in $shell" ;; esac
  done
done
left=$(env KOKKOS_HOST_SPACES_ADOPT_CHILDREN=on LD_PRELOAD="$library" sh -c 'echo "$LD_PRELOAD"')
[ "$left" = "$library" ] || fails "children on: $left"

# For fixed addresses: the address of free is in the program then.
echo '#include <cstdlib>
void (*taken)(void*);
__attribute__((constructor)) static void take() { taken = &free; }' > "$work/taken.cpp"
$compiler -std=c++20 -no-pie -fno-pie -isystem "$headers" "$sources/Life.cpp" "$work/taken.cpp" -L"$folder" -lcudart \
  -Wl,-rpath,"$folder" -o "$work/fixed" && expect 'page-locked: 2 times' with_library "$work/fixed"

# Of another compiler.
if other=$(command -v clang++); then
  "$other" -std=c++20 -isystem "$headers" "$sources/Life.cpp" -L"$folder" -lcudart -Wl,-rpath,"$folder" -o "$work/by_clang" &&
    expect 'page-locked: 2 times' with_library "$work/by_clang"
  echo 'int main() {}' | "$other" -stdlib=libc++ -x c++ - -o "$work/with_libcxx" 2> /dev/null && says '' "$work/with_libcxx"
else
  echo "skipped: no clang++"
fi

# The allocators of others, before and behind it.
for allocator in jemalloc tcmalloc mimalloc; do
  found=$(find /usr/lib/*/ -maxdepth 1 -name "lib$allocator*.so*" | sort | head -n 1)
  if [ -z "$found" ]; then echo "skipped: $allocator is not installed"; continue; fi
  expect "$allocator" preloading "$found:$library" "$folder/adopt_life"
  expect 'page-locked: 2 times' preloading "$library:$found" "$folder/adopt_life"
done

debugging=$(find /usr/lib*/ /lib*/ -maxdepth 2 -name 'libc_malloc_debug.so.0' | head -n 1)
[ -z "$debugging" ] || expect 'libc_malloc_debug' preloading "$debugging:$library" "$folder/adopt_memory" memory_is_the_system_s

# One in front of it that replaces free alone, and memory that is taken before this library has asked who has.
cat > "$work/front.cpp" << 'EOF'
#include <dlfcn.h>
extern "C" void free(void* memory) noexcept {
  static auto* const next = reinterpret_cast<void (*)(void*)>(dlsym(dlopen("libc.so.6", RTLD_LAZY), "free"));
  next(memory);
}
EOF
cat > "$work/early.cpp" << 'EOF'
#include <cstdlib>
#include <new>
static void* const memory = operator new(1 << 20, std::align_val_t(64));
void drop() { std::free(memory); }
EOF
echo 'void drop(); int main() { drop(); }' > "$work/main.cpp"
{ $compiler -shared -fPIC "$work/front.cpp" -o "$work/front.so" -ldl &&
  $compiler -std=c++20 -shared -fPIC "$work/early.cpp" -o "$work/libearly.so" -L"$folder" -Wl,--no-as-needed -lcudart \
    -Wl,-rpath,"$folder" &&
  $compiler "$work/main.cpp" -o "$work/early" -L"$work" -learly -Wl,-rpath,"$work" -Wl,-rpath-link,"$folder"; } || fails "they do not compile"
expect 'free is that of .*front.so' preloading "$work/front.so:$library" "$work/early"

# Python, whose modules bring the CUDA runtime and the C++ library, each for itself alone.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2> /dev/null)
if [ -n "$python" ]; then
  cat > "$work/module.py" << 'EOF'
import ctypes, sys
size, pointer = ctypes.c_size_t, ctypes.c_void_p
runtime, process = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
new, free, copy = process._ZnwmSt11align_val_t, process.free, process.cudaMemcpy
new.restype, new.argtypes, free.argtypes = pointer, [size, size], [pointer]
copy.argtypes = [pointer, pointer, size, ctypes.c_int]
device, host = pointer(), new(1 << 20, 64)
runtime.cudaMalloc.argtypes = [pointer, size]
assert runtime.cudaMalloc(ctypes.byref(device), 1 << 20) == 0
assert all(copy(host, device.value, 1 << 20, 4) == 0 for _ in range(3))
free(host)
EOF
  expect 'page-locked: 1 times' with_library "$python" "$work/module.py" "$folder/libcudart.so"
  { echo '#!/usr/bin/env python3'; cat "$work/module.py"; } > "$work/by_env" && chmod +x "$work/by_env"
  expect 'page-locked: 1 times' env "PATH=${python%/*}:$PATH" "$launcher" "$work/by_env" "$folder/libcudart.so"
else
  echo "skipped: no Python"
fi

# A program with a sanitizer, which must come first.
if echo 'int main() {}' | $compiler -x c++ -fsanitize=address - -o "$work/probe" 2> /dev/null && "$work/probe"; then
  cat > "$work/sanitized.cpp" << 'EOF'
#include <new>
int main() {
  for (int i = 0; i < 3; ++i) {
    void* const memory = operator new(1 << 20, std::align_val_t(64), std::nothrow);
    static_cast<char*>(memory)[i] = 1;
    operator delete(memory, std::align_val_t(64), std::nothrow);
  }
}
EOF
  $compiler -std=c++20 -fsanitize=address "$work/sanitized.cpp" -o "$work/sanitized" || fails "it does not compile"
  runtime=$($compiler -print-file-name=libasan.so)
  ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$runtime:$library" "$work/sanitized" || fails "a program with AddressSanitizer ended with $?"
else
  echo "skipped: no AddressSanitizer"
fi

# Each asynchronous copy of a CUDA runtime that is installed comes by here.
for runtime in "$headers"/../lib64/libcudart.so "$headers"/../lib/*-linux-gnu/libcudart.so; do
  [ -e "$runtime" ] || continue
  for name in $(nm -D --defined-only "$runtime" | grep -o 'cudaMemcpy[A-Za-z0-9]*Async\(_ptsz\)\?' | sort -u); do
    nm -D --defined-only "$library" | grep -q " $name\$" || fails "it does not know $name of $runtime"
  done
done

# What it needs and shows.
needs=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^libc\.so\|^ld-linux\|^libm\.so')
[ -z "$needs" ] || fails "it needs $needs"
for file in "$library" "$launcher"; do
  newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1)
  echo "$file needs $newest"
  if [ "$(getconf GNU_LIBC_VERSION)" = 'glibc 2.36' ]; then  # Debian 12's; a newer one has newer functions
    [ "$(printf '%s\nGLIBC_2.35\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.35 ] || fails "$file needs $newest"
  fi
done
shown=$(nm -D --defined-only "$library" | grep -v ' \(_Z[nd][la]Pv.*St11align_val_t.*\|_ZnwmSt11align_val_t.*\|free\|realloc\|malloc_usable_size\|cuda[A-Z].*\)$')
[ -z "$shown" ] || fails "it shows $shown"

[ "$failures" -eq 0 ]
