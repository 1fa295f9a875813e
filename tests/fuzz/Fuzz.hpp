// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_FUZZ_HPP
#define KOKKOS_HOST_SPACES_TESTS_FUZZ_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// libFuzzer calls it with each input, Replay.cpp with each file.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);

/// Operations so far, told at exit.
inline std::uint64_t fuzz_operations = 0;

/// Aborts unless `holds`: libFuzzer keeps the input then.
inline void expect(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s (operation %llu)\n", what,
               static_cast<unsigned long long>(fuzz_operations));
  std::abort();
}

inline void tell_operations_at_exit() {
  std::atexit([] {
    std::fprintf(stderr, "%llu operations\n", static_cast<unsigned long long>(fuzz_operations));
  });
}

#endif
