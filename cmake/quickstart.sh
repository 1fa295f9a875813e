#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# From a fresh machine to a result, by one command:
#
#   bash cmake/quickstart.sh         shows what real codes gain: on this machine with a GPU, else stored results
#   bash cmake/quickstart.sh test    builds, and runs the tests that this machine can run: 10 minutes on two cores
#   bash cmake/quickstart.sh test long    builds everything, optimised, and runs the tests with the label long too
#
# Installs what is missing with apt (as root, or by sudo), and uses what is there: also the packages
# in $CMAKE_PREFIX_PATH, and source archives in $KOKKOS_HOST_SPACES_ARCHIVE_DIR. Can be run again.

set -euo pipefail
archives=${KOKKOS_HOST_SPACES_ARCHIVE_DIR:+$(realpath -m -- "$KOKKOS_HOST_SPACES_ARCHIVE_DIR")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n==> %s\n' "$*" | fold -s -w 100; }
fail() { printf '\nquickstart: %s\n' "$*" >&2; exit 1; }

# --- What is missing: Debian's names of packages --------------------------------------------------

has_hwloc() {
  local -a prefixes
  IFS=: read -ra prefixes <<< "${CMAKE_PREFIX_PATH:-}"
  prefixes=("${prefixes[@]/%//include}")
  echo "#include <hwloc.h>" | c++ -E -x c++ "${prefixes[@]/#/-I}" - > /dev/null 2>&1
}

has_matplotlib() {
  local python
  for python in python3 /usr/bin/python3; do "$python" -c "import matplotlib" 2> /dev/null && return; done
  return 1
}

can_install() {
  command -v apt-get > /dev/null && { [ "$(id -u)" -eq 0 ] || command -v sudo > /dev/null; }
}

# missing_packages compare|test
missing_packages() {
  command -v c++ > /dev/null || echo g++
  command -v cmake > /dev/null || echo cmake
  command -v ninja > /dev/null || echo ninja-build
  has_hwloc || echo libhwloc-dev
  [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -d /etc/pki/tls ] || echo ca-certificates
  # Some tests run under MPI or by ReFrame, one draws pictures, one makes the reference; they are left out where these
  # cannot be had.
  if [ "$1" = test ] && can_install; then
    command -v mpirun > /dev/null || printf '%s\n' libopenmpi-dev openmpi-bin
    has_matplotlib || echo python3-matplotlib
    command -v doxygen > /dev/null || echo doxygen
    python3 -c "import ensurepip" 2> /dev/null || echo python3-venv
  fi
}

# install_missing: those in `packages`
install_missing() {
  local -a as_root=()
  [ ${#packages[@]} -gt 0 ] || return 0

  command -v apt-get > /dev/null ||
    fail "missing: ${packages[*]} (Debian's names), and there is no apt-get to install them: install" \
      "them with the package manager of this system, and run this again"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null ||
      fail "missing: ${packages[*]}, and installing needs root or sudo: have them installed, and run this again"
    as_root=(sudo)
  fi
  say "Installing: ${packages[*]}"
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${packages[@]}"
}

# ReFrame of PyPI, into build/tools/reframe: some tests are run by it, and say that they are skipped without it.
install_reframe() {
  command -v reframe > /dev/null || [ -x build/tools/reframe/bin/reframe ] || {
    rm -rf build/tools/reframe
    python3 -m venv build/tools/reframe &&
      timeout 300 build/tools/reframe/bin/pip install --retries 1 --timeout 15 reframe-hpc==4.10.4
  }
}

check_cmake() {
  local version
  version=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" = 3.25 ] ||
    fail "CMake $version is too old (3.25 or later is needed): install a later one, for example by" \
      "'pip install cmake', put it first in PATH, and run this again"
}

# All that is built goes there.
check_clone() {
  { mkdir -p build && touch build/.written; } 2> /dev/null ||
    fail "this clone cannot be written ($PWD/build is to hold what is built): copy it to a folder of yours, and run this there"
  rm build/.written
}

# --- Which backend --------------------------------------------------------------------------------

# Sets `gpu` to the compute capability of the first GPU, or to nothing, and `nvcc` to its version.
look_for_cuda() {
  gpu="" nvcc=""
  command -v nvcc > /dev/null || PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
  if command -v nvcc > /dev/null; then
    nvcc=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  fi
  if command -v nvidia-smi > /dev/null && nvidia-smi -L > /dev/null 2>&1; then
    gpu=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | sed -n 1p)
  fi
}

# Kokkos' name of the architecture with compute capability $1.
architecture() {
  case $1 in
    7.0) echo VOLTA70 ;;
    7.2) echo VOLTA72 ;;
    7.5) echo TURING75 ;;
    8.0) echo AMPERE80 ;;
    8.6) echo AMPERE86 ;;
    8.7) echo AMPERE87 ;;
    8.9) echo ADA89 ;;
    9.0) echo HOPPER90 ;;
    10.0) echo BLACKWELL100 ;;
    12.0) echo BLACKWELL120 ;;
    *) fail "GPUs with compute capability $1 are not known to Kokkos 5.0" ;;
  esac
}

# True, with the reason said, if there is a CUDA toolkit to build with.
cuda_toolkit_will_do() {
  if [ -z "$nvcc" ]; then
    echo "No nvcc in PATH or /usr/local/cuda/bin."
    return 1
  fi
  if [ "$(printf '%s\n' 12.2 "$nvcc" | sort -V | head -n 1)" != 12.2 ]; then
    echo "nvcc is of CUDA $nvcc, 12.2 or later is needed."
    return 1
  fi
}

# --- Building -------------------------------------------------------------------------------------

# configure <preset>
configure() {
  local preset=$1 arch all=ON run=ON
  local -a options=() not_optimised=("-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG")
  [ -z "$archives" ] || options+=("-DKokkosHostSpaces_ARCHIVE_DIR=$archives")
  # The presets have tests, for which Catch2 has to be built, and stop at warnings, which other compilers have more of.
  [ "$mode" = test ] || options+=(-DKokkosHostSpaces_ENABLE_TESTS=OFF -DKokkosHostSpaces_WARNINGS_AS_ERRORS=OFF)
  options+=(-U CMAKE_CXX_FLAGS_RELEASE)  # that of an earlier run
  case "$mode$long $preset" in
    # Nothing of the suite is run there.
    "compare host") options+=(-DKokkosHostSpaces_ENABLE_PERF=OFF) ;;
    "test host") options+=("${not_optimised[@]}") ;;  # takes two thirds of the time
    "testlong asan" | "testlong tsan") options+=(-DKokkosHostSpaces_ENABLE_KOKKOS=ON) ;;
  esac
  if [ "$mode $preset" = "test host" ] && command -v doxygen > /dev/null; then
    options+=(-DKokkosHostSpaces_ENABLE_DOCS=ON)
  elif [ "$preset" = cuda ]; then
    arch=$(architecture "${gpu:-9.0}")
    # One that an earlier run chose must go, since Kokkos takes one only.
    options+=(-U "Kokkos_ARCH_*" "-DKokkos_ARCH_$arch=ON")
    [ -n "$gpu" ] || { options+=("${not_optimised[@]}") run=OFF; }
    [ -n "$gpu$long" ] || all=OFF
    options+=("-DKokkosHostSpaces_GPU_TESTS=$run" "-DKokkosHostSpaces_ENABLE_EXAMPLES=$all"
      "-DKokkosHostSpaces_ENABLE_INSTALL=$all" "-DKokkosHostSpaces_ENABLE_PERF=$all")
  fi
  say "Configuring build/$preset"
  cmake --preset "$preset" --no-warn-unused-cli "${options[@]}"
}

# build <preset> [<argument of cmake --build>...]
build() {
  say "Building build/$1"
  if [ "$mode $1$gpu$long" = "test cuda" ]; then set -- "$@" --target hostspaces; fi
  cmake --build --preset "$@"
}

# Sets `preset`, and says what is going to be done.
announce_compare() {
  preset=host
  if [ -z "$gpu" ]; then
    say "No GPU is visible (nvidia-smi -L finds none): stored figures of an H200 and an H100 are shown, and memory of" \
      "this host is measured. This takes a minute on two cores."
  elif cuda_toolkit_will_do; then
    preset=cuda
    say "A GPU with compute capability $gpu is visible: stock Kokkos and this library are compared on it, by CUDA $nvcc." \
      "This takes two minutes."
  else
    say "A GPU is visible, but there is no toolkit to build for it: stored figures are shown, and memory of" \
      "this host is measured, in a minute. For this GPU, install CUDA 12.2 or later, and run this again."
  fi
  if [ "$preset" = cuda ]; then
    announce_downloads "Kokkos and Google Benchmark"
  else
    announce_downloads Kokkos
    show_stored_gains  # first: they need neither a build nor a network
  fi
}

# announce_downloads <sources>
announce_downloads() {
  echo "To be installed by apt-get: ${packages[*]:-nothing}. To be downloaded into build/, where not installed: $1." | fold -s -w 100
}

# The tables of gains in README.md, which are generated from stored results, in columns, each with the name of its file.
stored_gains() {
  sed -n '/^<!-- table gains/,/^<!-- end/ { s/µ/u/g; s/^| //; s/ |$//; /^-/d; p; }' README.md |
    awk -F ' *[|] *' '
      /^<!-- table/ { sub(/.* of /, ""); sub(/ -->/, ""); print "\n" $0 ":"; rows = 0; split("", width); next }
      /^<!-- end/ {
        for (r = 1; r <= rows; ++r) {
          n = split(row[r], cell, / *[|] */)
          printf "%-" width[1] "s", cell[1]
          for (i = 2; i <= n; ++i) printf "%" width[i] + 2 "s", cell[i]
          print ""
        }
        next
      }
      { row[++rows] = $0; for (i = 1; i <= NF; ++i) if (length($i) > width[i]) width[i] = length($i) }'
}

show_stored_gains() {
  say "Stored results, not measured here: programs run unchanged (adopted) on an H100, three ported codes on an H200," \
    "and stock Kokkos beside this library (perf/results/README.md tells what each row is)"
  stored_gains
}

compare() {
  configure "$preset" || fail "not configured (see above); the stored gains need nothing. Without a network, put the archives" \
    "that are named there into a folder, and name it: KOKKOS_HOST_SPACES_ARCHIVE_DIR=<folder> bash cmake/quickstart.sh"
  # Left to the system where threads run, unless told otherwise: else Kokkos warns.
  export OMP_PROC_BIND=${OMP_PROC_BIND:-false}
  if [ "$preset" = cuda ]; then
    build cuda --target kokkos_host_spaces_transport example_14_first_views
    say "Comparing on this machine"
    build/cuda/perf/kokkos_host_spaces_transport --groups idioms --quick
  else
    build host --target example_14_first_views
  fi
  say "Memory of this host"
  "build/$preset/examples/14_first_views"
  say "Next: examples/tutorial/README.md, from a stock Kokkos code to this library in 15 minutes." \
    "'bash cmake/quickstart.sh test' runs the tests."
}

# count_tests <build tree> [<option of ctest>...]
count_tests() {
  ctest --test-dir "build/$1" --show-only "${@:2}" | sed -n 's/^Total Tests: //p'
}

# The first tree gets the archives and tools of all. The others are configured while it is built, since that uses one
# core at a time.
build_all() {
  local preset configuring status=0
  configure "$1"
  for preset in "${@:2}"; do configure "$preset"; done > build/tools/configure.log 2>&1 &
  configuring=$!
  build "$1" || status=$?
  wait $configuring || status=$?
  cat build/tools/configure.log
  [ $status -eq 0 ] || return $status
  for preset in "${@:2}"; do build "$preset"; done
}

# Says what is going to be done, before anything is. Sets `presets`.
announce_tests() {
  presets=(host asan tsan)
  if cuda_toolkit_will_do; then
    presets+=(cuda)
    if [ -n "$gpu" ]; then
      say "Testing the host backend, and CUDA $nvcc on a GPU with compute capability $gpu."
    else
      say "Testing the host backend. The library is compiled for CUDA $nvcc as well; the tests that need a GPU are" \
        "skipped, since none is visible (nvidia-smi -L finds none)."
    fi
  else
    say "Testing the host backend only."
  fi
  if [ -n "$long" ]; then
    say "This takes about an hour on two cores."
  else
    say "This takes about 10 minutes on two cores, or longer where a GPU runs its tests, too. Left to 'test long':" \
      "tests with the label long, the optimised build, Kokkos under sanitizers," \
      "and without a GPU the compilation of tests, examples and benchmarks for CUDA."
  fi
  announce_downloads "Kokkos, Catch2, Google Benchmark and ReFrame"
}

run_all_tests() {
  local preset reframe first=1 count to_run=0
  local -a which=(--label-exclude 'long$')
  # All the while that is built.
  mkdir -p build/tools
  install_reframe > build/tools/reframe.log 2>&1 &
  reframe=$!
  build_all "${presets[@]}"
  wait $reframe || say "No ReFrame: tests that it runs are skipped (build/tools/reframe.log tells why)."

  [ -z "$long" ] || which=()
  # One run of ctest over all build trees, so that there is one summary.
  mkdir -p build/all-tests
  printf 'subdirs("../%s")\n' "${presets[@]}" > build/all-tests/CTestTestfile.cmake
  say "Testing"
  for preset in "${presets[@]}"; do
    count=$(count_tests "$preset")
    [ "$count" -gt 0 ] || fail "build/$preset has no tests: remove it, and run this again"
    printf 'Tests %3d to %3d: build/%s\n' "$first" "$((first + count - 1))" "$preset"
    first=$((first + count))
    to_run=$((to_run + $(count_tests "$preset" "${which[@]}")))
  done
  [ "$(count_tests all-tests "${which[@]}")" -eq "$to_run" ] ||
    fail "not all tests would run: in one of the build trees a test has a label that those of its name in other" \
      "ones lack, and ctest gives it to all: give it another name"
  # What UndefinedBehaviorSanitizer finds in tests is an illegal instruction, of which AddressSanitizer tells the line.
  export ASAN_OPTIONS=handle_sigill=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
  # It would wait a second at the end of each test for races of threads that are left.
  export TSAN_OPTIONS=atexit_sleep_ms=100${TSAN_OPTIONS:+:$TSAN_OPTIONS}
  # One test more than there are cores, since some wait. The list of skipped tests, which may be long, goes to a file.
  ctest --test-dir build/all-tests --output-on-failure --no-tests=error --parallel "$(($(nproc) + 1))" "${which[@]}" |
    sed -u -e '/^The following tests did not run:$/d' -e '/^[\t ]*[0-9]* - .* (Skipped)$/ { w build/all-tests/skipped
      d }'
  echo "All tests that this machine can run have passed; $(wc -l < build/all-tests/skipped) were skipped for want of" \
    "a GPU or a program (build/all-tests/skipped has their names)."
}

mode=${1:-compare} long=${2:-}
case "$mode ${2:-}" in
  "compare " | "test " | "test long") ;;
  *) fail "unknown arguments '$*': run it with no argument, with 'test', or with 'test long'" ;;
esac
look_for_cuda
mapfile -t packages < <(missing_packages "$mode")
if [ "$mode" = test ]; then announce_tests; else announce_compare; fi
check_clone
install_missing
check_cmake
if [ "$mode" = test ]; then run_all_tests; else compare; fi
