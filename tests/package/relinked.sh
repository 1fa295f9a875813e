#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# A program that is linked to the installed target KokkosHostSpaces::adopt has its library before all others, though it
# calls nothing of it, and is adopted without the launcher.
# bash relinked.sh <initial cache> <generator> <Kokkos> <package> <folder>

set -eu
rm -rf "$5" && mkdir -p "$5" && cd "$5"
cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.25)
project(relinked CXX)
find_package(KokkosHostSpaces REQUIRED)
add_executable(relinked relinked.cpp)
target_link_libraries(relinked PRIVATE KokkosHostSpaces::adopt)
END
cat > relinked.cpp << 'END'
#include <new>
int main() {
  void* const view = operator new(1 << 20, std::align_val_t(64), std::nothrow);
  operator delete(view, std::align_val_t(64), std::nothrow);
}
END
cmake -S . -B build -G "$2" -C "$1" -D Kokkos_ROOT="$3" -D KokkosHostSpaces_DIR="$4"
cmake --build build
KOKKOS_HOST_SPACES_ADOPT_REPORT=report build/relinked
cat report
grep -q "adopt: build/relinked" report
readelf -d build/relinked | grep NEEDED | head -n 1 | grep -q libkokkos_host_spaces_adopt.so
