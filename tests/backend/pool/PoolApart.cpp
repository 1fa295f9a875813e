// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that the process has page-locked apart from the pool, and that counts toward its limit.

#include "../../../backend/Error.hpp"
#include "../../../backend/pool/Pool.hpp"
#include "PoolTest.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl::Backend;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("memory apart from the pool counts toward its limit, and in no other sum") {
  PoolTest const test;
  pool::set_limit(64 * MiB);
  Pool::count_apart(40 * MiB, "table");
  pool::Statistics const now = pool::statistics();
  CHECK(now.bytes_node_shared == 40 * MiB);
  CHECK(now.total.bytes_locked == 0);
  CHECK(now.limit == 64 * MiB);
  CHECK_THROWS_MATCHES(PoolTest::allocate(30 * MiB), OutOfPinnedMemory,
                       MessageMatches(ContainsSubstring("shared with the node")));
  char* const fits = PoolTest::allocate(20 * MiB);
  CHECK_THROWS_MATCHES(Pool::count_apart(10 * MiB, "second"), OutOfPinnedMemory,
                       MessageMatches(ContainsSubstring("'second'")));
  Pool::deallocate(fits);
  Pool::count_apart(24 * MiB, "in the place of cached memory");
  Pool::end_apart(24 * MiB);
  Pool::end_apart(40 * MiB);
  CHECK(pool::statistics().bytes_node_shared == 0);
  char* const all = PoolTest::allocate(60 * MiB);
  Pool::deallocate(all);
  pool::set_limit(0);
}
