// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pool in a control group with a limit of 256 MiB, of which others hold 64 MiB: run by in_group.sh.

#include "PoolTest.hpp"

#include <fstream>

namespace {

void set_group_limit(std::size_t bytes) {
  std::ofstream(std::getenv("KHS_TEST_LIMIT")) << bytes << '\n';
}

// Blocks that are deallocated at the end.
struct Blocks : std::vector<char*> {
  ~Blocks() {
    for (char* const block : *this) Pool::deallocate(block);
  }
  void add(std::size_t bytes) { push_back(PoolTest::allocate(bytes)); }
};

// Empty if it is served.
std::string refusal_of(Blocks& blocks, std::size_t bytes) {
  try {
    blocks.add(bytes);
    return "";
  } catch (OutOfPinnedMemory const& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("the sum of what is locked stays below the control group's limit", "[.][in_group]") {
  PoolTest const test;
  set_group_limit(256 * MiB);
  Blocks blocks;
  CHECK(refusal_of(blocks, 100 * MiB).empty());
  CHECK_THAT(refusal_of(blocks, 160 * MiB), ContainsSubstring("control group"));
  CHECK(PoolTest::usage().bytes_locked == 100 * MiB);
  CHECK(refusal_of(blocks, 80 * MiB).empty());
}

TEST_CASE("what other processes of the control group hold counts", "[.][in_group]") {
  PoolTest const test;
  set_group_limit(256 * MiB);
  Blocks blocks;
  CHECK_THAT(refusal_of(blocks, 200 * MiB), ContainsSubstring("control group"));
  CHECK(refusal_of(blocks, 190 * MiB).empty());
}

TEST_CASE("a control group's limit that is lowered or raised is seen by the next request",
          "[.][in_group]") {
  PoolTest const test;
  set_group_limit(256 * MiB);
  Blocks blocks;
  CHECK(refusal_of(blocks, 40 * MiB).empty());
  set_group_limit(70 * MiB);
  CHECK_THAT(refusal_of(blocks, 20 * MiB), ContainsSubstring("control group"));
  set_group_limit(256 * MiB);
  CHECK(refusal_of(blocks, 20 * MiB).empty());
}

TEST_CASE("at the control group's limit ready memory makes room for another size",
          "[.][in_group]") {
  PoolTest const test;
  set_group_limit(256 * MiB);
  Blocks blocks;
  for (int i = 0; i < 4; ++i) blocks.add(40 * MiB);
  while (blocks.size() > 1) {
    Pool::deallocate(blocks.back());
    blocks.pop_back();
  }
  CHECK(refusal_of(blocks, 180 * MiB).empty());
}

TEST_CASE("a reservation stops at the control group's limit", "[.][in_group]") {
  PoolTest const test;
  set_group_limit(256 * MiB);
  Blocks blocks;
  blocks.add(100 * MiB);
  CHECK_THROWS_AS(Pool::reserve(160 * MiB).wait(), OutOfPinnedMemory);
  CHECK(PoolTest::usage().bytes_locked == 100 * MiB);
}
