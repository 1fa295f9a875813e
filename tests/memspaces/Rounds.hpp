// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_ROUNDS_HPP
#define KOKKOS_HOST_SPACES_TESTS_ROUNDS_HPP

#include "../support/Sanitized.hpp"

#include <algorithm>
#include <cstdlib>

/// How many random cases are tried: as many as usual, unless the environment asks for more. A quarter
/// below sanitizers, where what is right is not the question: the other builds try all.
inline int rounds(int usual) {
  char const* const asked = std::getenv("KOKKOS_HOST_SPACES_TEST_STREAMED");
  return asked != nullptr ? std::atoi(asked) : sanitized ? usual / 4 : usual;
}

/// Elements of a vector: fewer where the environment says that kernels take long, as below tools.
inline int elements(int usual) {
  char const* const most = std::getenv("KOKKOS_HOST_SPACES_TEST_ELEMENTS");
  return most != nullptr ? std::min(usual, std::atoi(most)) : usual;
}

#endif
