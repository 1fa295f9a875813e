#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
#
# Builds the conformance program (tests/memspaces/spaces) alone, along with a Kokkos of each of these configurations,
# and runs it:
#
#   bash tests/configurations.sh <folder to work in> [<configuration>...]
#
#   serial       Serial alone, by g++ 12 where there is one
#   clang        OpenMP, by Clang as C++23
#   threads      Threads, everything as shared libraries
#   cuda         CUDA by nvcc_wrapper with -rdc=true; run where there is a GPU
#   kokkos_5_2   compiled, with the library, with the headers of Debian's Kokkos 5.2; there is nothing to link with
#   hip          HIP for an AMD GPU (gfx942), with the examples: linked, and not run. Where there is no hipcc, root gets a
#                Debian that has one into the folder, by debootstrap (2 GB)
#
# All of them by default. What this machine lacks is told and skipped; the exit code is 4 if everything is. $CMAKE_ARGS
# are given to each configuration. $KOKKOS_5_2 is the folder of headers, which else come from the mirror of apt.

set -euo pipefail
work=$(mkdir -p "${1:?a folder to work in}" && cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- serial clang threads cuda kokkos_5_2 hip
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$PATH:/usr/local/cuda/bin
export OMP_PROC_BIND=false

skip() { echo "SKIPPED: $*"; exit 4; }
needs() {
  for tool in ninja "$@"; do command -v "$tool" > /dev/null || skip "there is no $tool"; done
}

# configure <configuration> <option of cmake>...
configure() {
  # shellcheck disable=SC2086
  cmake -G Ninja -S "$root" -B "$work/$1" -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 \
    -D CMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON -D KokkosHostSpaces_ENABLE_EXAMPLES=OFF \
    -D KokkosHostSpaces_ENABLE_PERF=OFF -D KokkosHostSpaces_ENABLE_INSTALL=OFF \
    -D KokkosHostSpaces_TOOLS_DIR="$work/tools" \
    -D KokkosHostSpaces_ARCHIVE_DIR="${KOKKOS_HOST_SPACES_ARCHIVE_DIR:-$work/archives}" \
    -D KokkosHostSpaces_WARNINGS_AS_ERRORS=ON --no-warn-unused-cli "${@:2}" ${CMAKE_ARGS:-}
}
configure_serial() {
  configure serial -D CMAKE_CXX_COMPILER="$(command -v g++-12 || command -v g++)" -D Kokkos_ENABLE_OPENMP=OFF
}
build_and_run() {
  cmake --build "$work/$1" --target conformance_tests
  "$work/$1/tests/memspaces/conformance_tests"
}

serial() {
  needs g++
  configure_serial
  build_and_run serial
}

clang() {
  needs clang++
  configure clang -D CMAKE_CXX_COMPILER=clang++ -D CMAKE_CXX_STANDARD=23 -D Kokkos_ENABLE_OPENMP=ON
  build_and_run clang
}

threads() {
  needs g++
  configure threads -D Kokkos_ENABLE_OPENMP=OFF -D Kokkos_ENABLE_SERIAL=OFF -D Kokkos_ENABLE_THREADS=ON \
    -D BUILD_SHARED_LIBS=ON
  build_and_run threads
}

cuda() {
  needs g++ nvcc
  configure_serial  # unpacks Kokkos
  local -a options=(-D CMAKE_CXX_COMPILER="$(echo "$work"/serial/_deps/kokkos-*/bin/nvcc_wrapper)"
    -D KokkosHostSpaces_ENABLE_CUDA=ON -D Kokkos_ENABLE_CUDA_RELOCATABLE_DEVICE_CODE=ON)
  if nvidia-smi -L > /dev/null 2>&1; then
    configure cuda "${options[@]}"
    build_and_run cuda
  else
    configure cuda "${options[@]}" -D Kokkos_ARCH_HOPPER90=ON
    cmake --build "$work/cuda" --target conformance_tests
    echo "built, and not run: there is no GPU"
  fi
}

# Unpacks the headers of Debian's newest Kokkos; installs nothing.
get_headers() {
  local apt=$work/headers/apt site
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  # shellcheck disable=SC2016
  for site in $(apt-get indextargets --format '$(SITE)' | sort -u); do echo "deb $site sid main"; done > "$apt/sources"
  cd "$work/headers"
  local -a options=(-o Dir::Etc::SourceList="$apt/sources" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$apt"
    -o Dir::Cache="$apt/cache" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root -o Acquire::Retries=0)
  apt-get "${options[@]}" update > log 2>&1 || true  # a site may have no sid
  apt-get "${options[@]}" download libkokkos-dev >> log 2>&1 && dpkg -x libkokkos-dev_5.2.*.deb .
}

kokkos_5_2() {
  needs g++
  local headers=${KOKKOS_5_2:-$work/headers/usr/include/kokkos}
  [ -e "$headers/KokkosCore_config.h" ] || (get_headers) ||
    skip "there is no Kokkos 5.2: name its headers by KOKKOS_5_2"
  configure kokkos_5_2 -D CMAKE_CXX_COMPILER=g++ -D Kokkos_ENABLE_OPENMP=ON  # as Debian's
  BUILD=$work/kokkos_5_2 bash "$root/tests/kokkos_headers.sh" "$headers" \
    '^(memspaces|tests/memspaces/CMakeFiles/conformance_tests)'
}

# Makes a Debian with hipcc in a folder, from the mirror of apt.
make_system() {
  local site packages=g++,cmake,ninja-build,hipcc,libamdhip64-dev,libhwloc-dev
  # shellcheck disable=SC2016
  site=$(apt-get indextargets --format '$(SITE)' | head -n 1)
  rm -rf "$1"
  debootstrap --variant=minbase --include=$packages sid "$1" "$site" && touch "$1/made"
}

hip() {
  system=$work/hip_system archives=${KOKKOS_HOST_SPACES_ARCHIVE_DIR:-$work/archives}  # for the trap
  if command -v hipcc > /dev/null; then
    export HIP_PLATFORM=amd
    PATH=$(echo /usr/lib/llvm-*/bin):$PATH
    configure hip -D CMAKE_CXX_COMPILER=hipcc -D Kokkos_ENABLE_HIP=ON -D Kokkos_ARCH_AMD_GFX942=ON \
      -D Kokkos_ENABLE_ROCTHRUST=OFF -D Kokkos_ENABLE_OPENMP=OFF -D KokkosHostSpaces_ENABLE_EXAMPLES=ON \
      -D KokkosHostSpaces_WARNINGS_AS_ERRORS=OFF
    cmake --build "$work/hip" --target hostspaces examples/all conformance_tests
    echo "built, and not run"
    return
  fi
  needs g++ debootstrap
  [ "$(id -u)" = 0 ] || skip "there is no hipcc, and only root can make a system that has one"
  [ -e "$system/made" ] || make_system "$system" || skip "no Debian can be made with debootstrap"
  configure_serial  # gets the archives
  mkdir -p "$system/proc"
  trap 'umount "$system/proc" "$system$root" "$system$work" "$system$archives" || true' EXIT
  mount -t proc proc "$system/proc"
  for folder in "$root" "$work" "$archives"; do
    mkdir -p "$system$folder"
    mount --bind "$folder" "$system$folder"
  done
  chroot "$system" env -i HOME=/root PATH=/usr/bin:/bin KOKKOS_HOST_SPACES_ARCHIVE_DIR="$archives" \
    bash "$root/tests/configurations.sh" "$work/in_debian" hip  # has logs of its own
}

failed=0 done=0
for configuration in "$@"; do
  printf '\n==> %s (%s s)\n' "$configuration" "$SECONDS"
  code=0
  bash -c "$(declare -p work root); $(declare -f); set -euo pipefail; $configuration" \
    > "$work/$configuration.log" 2>&1 || code=$?
  grep -vE "^(-- |\[)" "$work/$configuration.log" | tail -n $((code == 0 || code == 4 ? 3 : 60))
  case $code in
    0) done=1 ;;
    4) ;;
    *) failed=1 ; echo "FAILED: $configuration" ;;
  esac
done
[ $failed -eq 0 ] || exit 1
[ $done -eq 1 ] || exit 4
