// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pool in a control group with a limit of 256 MiB, of which others hold 64 MiB: run by in_group.sh.

#include "PoolTest.hpp"

#include <fstream>

namespace {

void set_group_limit(std::size_t bytes) {
  std::ofstream(std::getenv("KHS_TEST_LIMIT")) << bytes << '\n';
}

bool is_refused(Blocks& blocks, std::size_t bytes) {
  std::string const why = refusal_of([&] { blocks.add(bytes); });
  if (!why.empty()) CHECK_THAT(why, ContainsSubstring("control group"));
  return !why.empty();
}

}  // namespace

TEST_CASE("in a control group its limit counts, and what its other processes hold",
          "[.][in_group]") {
  PoolTest const test;
  set_group_limit(256 * MiB);
  Blocks blocks;
  SECTION("for the sum of what is locked") {
    CHECK_FALSE(is_refused(blocks, 100 * MiB));
    CHECK(is_refused(blocks, 160 * MiB));
    CHECK(PoolTest::usage().bytes_locked == 100 * MiB);
    CHECK_FALSE(is_refused(blocks, 80 * MiB));
  }
  SECTION("for one block") {
    CHECK(is_refused(blocks, 200 * MiB));
    CHECK_FALSE(is_refused(blocks, 190 * MiB));
  }
  SECTION("from the next request on, if it is lowered or raised") {
    CHECK_FALSE(is_refused(blocks, 40 * MiB));
    set_group_limit(70 * MiB);
    CHECK(is_refused(blocks, 20 * MiB));
    set_group_limit(256 * MiB);
    CHECK_FALSE(is_refused(blocks, 20 * MiB));
  }
  SECTION("for what is in use: ready memory makes room for another size") {
    for (int i = 0; i < 4; ++i) blocks.add(40 * MiB);
    blocks.deallocate();
    CHECK_FALSE(is_refused(blocks, 180 * MiB));
  }
  SECTION("for reservations") {
    blocks.add(100 * MiB);
    CHECK_THROWS_AS(Pool::reserve(160 * MiB).wait(), OutOfPinnedMemory);
    CHECK(PoolTest::usage().bytes_locked == 100 * MiB);
  }
}
