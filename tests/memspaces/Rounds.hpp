// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_ROUNDS_HPP
#define KOKKOS_HOST_SPACES_TESTS_ROUNDS_HPP

#include "../support/Sanitized.hpp"

#include <algorithm>
#include <cstdlib>

/// Number of random cases: `usual`, or what the environment asks for. A quarter under sanitizers, since
/// the other builds check results.
inline int rounds(int usual) {
  char const* const asked = std::getenv("KOKKOS_HOST_SPACES_TEST_STREAMED");
  return asked != nullptr ? std::atoi(asked) : sanitized ? usual / 4 : usual;
}

/// Elements of a vector: `usual`, or fewer if the environment says so, as under tools that slow kernels.
inline int elements(int usual) {
  char const* const most = std::getenv("KOKKOS_HOST_SPACES_TEST_ELEMENTS");
  return most != nullptr ? std::min(usual, std::atoi(most)) : usual;
}

#endif
