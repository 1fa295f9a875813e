// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_ROUNDS_HPP
#define KOKKOS_HOST_SPACES_TESTS_ROUNDS_HPP

#include <cstdlib>

/// How many random cases are tried: as many as usual, unless the environment asks for more.
inline int rounds(int usual) {
  char const* const asked = std::getenv("KOKKOS_HOST_SPACES_TEST_STREAMED");
  return asked != nullptr ? std::atoi(asked) : usual;
}

#endif
