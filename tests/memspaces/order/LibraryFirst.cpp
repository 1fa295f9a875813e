// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The library that knows Kokkos alone is included before this one.

#include "ThirdParty.hpp"

#include <KokkosHostSpaces.hpp>

[[maybe_unused]] static constexpr bool library_last = false;
#define KOKKOS_HOST_SPACES_TESTS_ORDER "library first"
#include "BothOrders.hpp"
