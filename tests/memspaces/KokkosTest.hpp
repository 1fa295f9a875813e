// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What tests include that are written as users write.

#ifndef KOKKOS_HOST_SPACES_TESTS_MEMSPACES_KOKKOS_TEST_HPP
#define KOKKOS_HOST_SPACES_TESTS_MEMSPACES_KOKKOS_TEST_HPP

#include <KokkosHostSpaces.hpp>

#include "../support/Tests.hpp"

namespace khs = KokkosHostSpaces;

#endif
