// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The memory that the pool locks is bounded by what was needed at once, whatever the sizes.

#include "PoolTest.hpp"

TEST_CASE(
    "failure 24: fields of nearly one size, made and destroyed each step, need no more memory") {
  PoolTest const test;
  Watched watched;
  std::mt19937 random(5);
  std::size_t after_one = 0;
  for (int step = 0; step < 20; ++step) {
    std::vector<char*> fields;
    std::size_t const largest = random() % 41;
    for (std::size_t i = 0; i <= 40; ++i)
      fields.push_back(watched.allocate((i == largest ? 34 : 32) * MiB));
    std::shuffle(fields.begin(), fields.end(), random);
    for (char* const field : fields) watched.deallocate(field);
    if (step == 0) after_one = watched.locked();
  }
  CHECK(watched.excess() == 0);
  CHECK(watched.locked() == after_one);
}

TEST_CASE("slabs serve one size after the other") {
  PoolTest const test;
  constexpr std::size_t live = (sanitized ? 8 : 32) * MiB;
  std::size_t needed         = 0;
  std::size_t locked         = 0;
  for (std::size_t step = 0; step < 2 * 48; ++step) {
    std::size_t const bytes = 256 + (step % 48) * 660;
    Blocks blocks;
    for (std::size_t sum = 0; sum < live; sum += bytes) blocks.add(bytes);
    needed = std::max(needed, PoolTest::usage().bytes_in_use);
    locked = std::max(locked, PoolTest::usage().bytes_locked);
  }
  CHECK(locked <= needed + needed / 4 + 4 * MiB);
}

TEST_CASE("failure 24: sizes a little above a power of two are merged again") {
  PoolTest const test;
  Watched watched;
  for (int round = 0; round < 30; ++round) {
    Blocks blocks;
    for (std::size_t i = 0; i < 2000; ++i)
      blocks.push_back(PoolTest::allocate(((round + i) % 3 == 0 ? 1024 : 64 * KiB) + 8));
    watched.deallocate(blocks.back());
    blocks.pop_back();
  }
  CHECK(watched.excess() == 0);
  pool::trim(0);
  CHECK(PoolTest::usage().bytes_locked == 0);
}

TEST_CASE("failure 24: ever larger requests do not leave the smaller ones locked") {
  PoolTest const test;
  std::size_t const first = GENERATE(1 * MiB, 20 * MiB);
  Watched watched;
  char* field = watched.allocate(first);
  for (std::size_t bytes = first; bytes < 10 * first; bytes += first / 4) {
    char* const larger = watched.allocate(bytes);
    watched.deallocate(field);
    field = larger;
  }
  CHECK(watched.excess() == 0);
  watched.deallocate(field);
}

TEST_CASE("what is reserved stays, however little is used of it") {
  PoolTest const test;
  PoolTest::reserve(200 * MiB, 100 * MiB).wait();
  Blocks blocks;
  for (int i = 0; i < 3; ++i) blocks.add(20 * MiB, MemoryKind::write_combined);
  CHECK(PoolTest::usage().bytes_locked == 260 * MiB);
}
