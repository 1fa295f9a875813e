// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The library that knows Kokkos alone is included after this one.

#include <KokkosHostSpaces.hpp>

#include "ThirdParty.hpp"

[[maybe_unused]] static constexpr bool library_last = true;
#define KOKKOS_HOST_SPACES_TESTS_ORDER "library last"
#include "BothOrders.hpp"
