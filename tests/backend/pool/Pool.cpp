// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../CapturedStderr.hpp"
#include "PoolTest.hpp"

#include <limits>
#include <set>

TEST_CASE("the pool hands out aligned blocks that do not overlap and can be written") {
  PoolTest const test;
  std::vector<std::size_t> const sizes{1,       255,       256,       257,
                                       1152,    32 * KiB,  32768 + 1, 100000,
                                       1 * MiB, MiB + 128, 5 * MiB,   20 * MiB + 128};
  std::vector<char*> blocks;
  for (std::size_t i = 0; i < 3 * sizes.size(); ++i) {
    std::size_t const bytes = sizes[i % sizes.size()];
    blocks.push_back(PoolTest::allocate(bytes));
    REQUIRE(reinterpret_cast<std::uintptr_t>(blocks.back()) % 256 == 0);
    std::memset(blocks.back(), static_cast<int>(i), bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::size_t const bytes = sizes[i % sizes.size()];
    CHECK(blocks[i][0] == static_cast<char>(i));
    CHECK(blocks[i][bytes / 2] == static_cast<char>(i));
    CHECK(blocks[i][bytes - 1] == static_cast<char>(i));
    Pool::deallocate(blocks[i]);
  }
  CHECK(PoolTest::usage().bytes_in_use == 0);
}

TEST_CASE("no bytes are no memory, and giving nothing back is harmless") {
  PoolTest const test;
  CHECK(PoolTest::allocate(0) == nullptr);
  Pool::deallocate(nullptr);
  CHECK(PoolTest::usage().segments == 0);
}

TEST_CASE("memory of both kinds and of every node is kept apart") {
  PoolTest const test;
  auto const kind    = GENERATE(MemoryKind::page_locked, MemoryKind::write_combined);
  Pool::Request near = {1 * MiB, kind, 0, "TestSpace", "near"};
  void* const first  = Pool::allocate(near);
  Pool::deallocate(first);
  void* const elsewhere = PoolTest::allocate(1 * MiB);
  CHECK(elsewhere != first);
  void* const again = Pool::allocate(near);
  void* const more  = Pool::allocate(near);
  CHECK(pool::describe(again)->kind == kind);
  CHECK(pool::describe(again)->numa_node == pool::describe(more)->numa_node);
  pool::Statistics const now = pool::statistics();
  std::size_t pools_of_node  = 0;
  for (pool::PoolUsage const& pool : now.pools) {
    if (pool.kind != kind || pool.numa_node != 0) continue;
    ++pools_of_node;
    CHECK(pool.usage.bytes_in_use == 2 * MiB);
  }
  CHECK(pools_of_node == 1);
  for (void* const block : {elsewhere, again, more}) Pool::deallocate(block);
}

TEST_CASE("on an idle device a block is used again at once, and counts as a hit") {
  PoolTest const test;
  std::size_t const bytes = GENERATE(20 * MiB, 256 * MiB + 128);
  char* const first       = PoolTest::allocate(bytes);
  Pool::deallocate(first);
  std::size_t const hits = PoolTest::usage().hits;
  for (int i = 0; i < 100; ++i) {
    char* const again = PoolTest::allocate(bytes);
    REQUIRE(again == first);
    Pool::deallocate(again);
  }
  CHECK(PoolTest::usage().hits == hits + 100);
  CHECK(PoolTest::usage().segments == 1);
}

TEST_CASE("on an idle device allocating and giving back for ever needs no more memory") {
  PoolTest const test;
  std::size_t const bytes = GENERATE(100, 20000, 40 * KiB, 1 * MiB + 128);
  Pool::deallocate(PoolTest::allocate(bytes));
  std::size_t const misses = PoolTest::usage().misses;
  for (int i = 0; i < 5000; ++i) Pool::deallocate(PoolTest::allocate(bytes));
  CHECK(PoolTest::usage().misses == misses);
}

TEST_CASE("a request that no machine can meet fails, and the next smaller one works") {
  PoolTest const test;
  std::size_t const bytes =
      GENERATE(std::numeric_limits<std::size_t>::max(), std::size_t(1) << 62, std::size_t(1) << 50);
  CHECK_THROWS_AS(PoolTest::allocate(bytes), OutOfPinnedMemory);
  char* const block = PoolTest::allocate(1 * MiB);
  CHECK(block != nullptr);
  Pool::deallocate(block);
}

TEST_CASE("at the limit the exception says all there is to know") {
  PoolTest const test;
  pool::set_limit(32 * MiB);
  char* const block = PoolTest::allocate(20 * MiB);
  CHECK_THROWS_WITH(PoolTest::allocate(18 * MiB, "the temperature"),
                    ContainsSubstring("the temperature") && ContainsSubstring("TestSpace") &&
                        ContainsSubstring(std::to_string(18 * MiB)) &&
                        ContainsSubstring("in use " + std::to_string(20 * MiB)) &&
                        ContainsSubstring(std::to_string(32 * MiB)) &&
                        ContainsSubstring("RLIMIT_MEMLOCK") &&
                        ContainsSubstring("or raise the limit of khs::pool::set_limit"));
  char* const smaller = PoolTest::allocate(8 * MiB);
  CHECK(PoolTest::usage().bytes_locked <= 32 * MiB);
  Pool::deallocate(block);
  Pool::deallocate(smaller);
}

TEST_CASE("at the limit ready memory is given back to make room for another size or kind") {
  PoolTest const test;
  pool::set_limit(64 * MiB);
  std::vector<char*> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(PoolTest::allocate(20 * MiB));
  for (char* const block : blocks) Pool::deallocate(block);
  auto const kind   = GENERATE(MemoryKind::page_locked, MemoryKind::write_combined);
  void* const large = Pool::allocate({50 * MiB, kind, -1, "TestSpace", "large"});
  CHECK(large != nullptr);
  CHECK(PoolTest::usage().bytes_locked <= 64 * MiB);
  Pool::deallocate(large);
}

TEST_CASE("a limit set below what is cached gives memory back") {
  PoolTest const test;
  Pool::deallocate(PoolTest::allocate(20 * MiB));
  char* const kept = PoolTest::allocate(18 * MiB);
  Pool::deallocate(PoolTest::allocate(30 * MiB));
  pool::trim(1000 * MiB);
  pool::set_limit(10 * MiB);
  CHECK(pool::statistics().limit == 10 * MiB);
  CHECK(PoolTest::usage().bytes_locked < 50 * MiB);
  CHECK_THROWS_AS(PoolTest::allocate(40 * MiB), OutOfPinnedMemory);
  Pool::deallocate(kept);
}

TEST_CASE("what was not handed out, or was given back already, is refused with a message") {
  PoolTest const test;
  std::size_t const bytes = GENERATE(100, 1 * MiB);
  char* const block       = PoolTest::allocate(bytes);
  char* const other       = PoolTest::allocate(bytes);
  Pool::deallocate(block);
  int local             = 0;
  char* const small     = PoolTest::allocate(1000);
  void* const never_had = small + 20 * 1024;  // a slot of the same slab
  for (void* const wrong : {static_cast<void*>(block), static_cast<void*>(other + 8),
                            static_cast<void*>(&local), never_had}) {
    CapturedStderr const captured;
    Pool::deallocate(wrong);
    CHECK_THAT(captured.text(), ContainsSubstring("is not given back"));
  }
  CHECK(pool::describe(other)->state == pool::State::in_use);
  Pool::deallocate(other);
  Pool::deallocate(small);
}

TEST_CASE("threads that allocate at the same time get different memory") {
  PoolTest const test;
  constexpr int thread_count = 8;
  std::vector<std::vector<char*>> blocks(thread_count);
  std::vector<std::thread> threads;
  for (auto& mine : blocks) {
    threads.emplace_back([&mine] {
      for (std::size_t i = 0; i < 300; ++i) mine.push_back(PoolTest::allocate(100 + i * 200));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<char*> all;
  for (auto const& mine : blocks) {
    all.insert(mine.begin(), mine.end());
    for (char* const block : mine) Pool::deallocate(block);
  }
  CHECK(all.size() == thread_count * 300);
  CHECK(PoolTest::usage().bytes_in_use == 0);
}
