// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What PoolModel.cpp does not see: addresses of neighbours, words, and where zeros come from. On every driver.

#include "../CapturedStderr.hpp"
#include "PoolTest.hpp"

namespace {

std::size_t dirty_of(void const* pointer, std::size_t bytes) {
  return std::min(Pool::dirty_bytes(pointer), bytes);
}

bool all_zero(char const* begin, std::size_t bytes) {
  return bytes == 0 || (*begin == 0 && std::memcmp(begin, begin + 1, bytes - 1) == 0);
}

std::string refusal(std::size_t bytes) {
  return refusal_of([&] { Pool::deallocate(PoolTest::allocate(bytes)); });
}

}  // namespace

TEST_CASE("memory of both kinds and of every node is kept apart") {
  PoolTest const test;
  auto const kind   = GENERATE(MemoryKind::page_locked, MemoryKind::write_combined);
  auto const near   = [&] { return PoolTest::allocate(1 * MiB, "near", 0, kind); };
  char* const first = near();
  Pool::deallocate(first);
  Blocks blocks;
  CHECK(blocks.add(1 * MiB) != first);
  for (int i = 0; i < 2; ++i) blocks.push_back(near());
  CHECK(pool::describe(blocks[1])->kind == kind);
  CHECK(pool::describe(blocks[1])->numa_node == pool::describe(blocks[2])->numa_node);
  std::size_t in_use = 0;
  for (pool::PoolUsage const& pool : pool::statistics().pools)
    if (pool.kind == kind && pool.numa_node == 0) in_use += pool.usage.bytes_in_use;
  CHECK(in_use == 2 * MiB);
}

TEST_CASE("what was not handed out, or was given back already, is refused with a message") {
  PoolTest const test;
  std::size_t const bytes = GENERATE(100, 1 * MiB);
  char* const block       = PoolTest::allocate(bytes);
  Blocks blocks;
  char *const other = blocks.add(bytes), *const small = blocks.add(1000);
  Pool::deallocate(block);
  int local             = 0;
  void* const never_had = small + 20 * 1024;  // a slot of the same slab
  for (void* const wrong : {static_cast<void*>(block), static_cast<void*>(other + 8),
                            static_cast<void*>(&local), never_had}) {
    CapturedStderr const captured;
    Pool::deallocate(wrong);
    CHECK_THAT(captured.text(), ContainsSubstring("is not given back"));
  }
  CHECK(pool::describe(other)->state == pool::State::in_use);
}

TEST_CASE("reserved memory serves allocations of every size without locking more, by zeros once") {
  PoolTest const test(1);
  pool::Reservation const reservation = PoolTest::reserve(192 * MiB, 96 * MiB);
  CHECK(reservation.bytes_asked() == 192 * MiB);
  reservation.wait();
  CHECK(reservation.finished());
  CHECK(reservation.bytes_done() == 192 * MiB);
  std::size_t const misses = PoolTest::usage().misses;
  Blocks blocks;
  for (std::size_t const bytes : {std::size_t(100), 40 * KiB, 3 * MiB, 60 * MiB, 90 * MiB}) {
    char* const fresh = blocks.add(bytes);
    CHECK(dirty_of(fresh, bytes) == 0);
    CHECK(dirty_of(fresh, bytes) == bytes);
  }
  CHECK(all_zero(blocks.back(), 90 * MiB));
  CHECK(PoolTest::usage().misses == misses);
  CHECK(PoolTest::usage().bytes_locked == 192 * MiB);
  Pool::deallocate(blocks.back());
  blocks.pop_back();
  PoolTest::make_ready();
  char* const again = blocks.add(90 * MiB);
  CHECK(dirty_of(again, 90 * MiB) == 90 * MiB);
  CHECK(dirty_of(again + 128, 90 * MiB) == 90 * MiB);
}

TEST_CASE(
    "reserved memory also serves sizes that have memory of their own, before more is locked") {
  PoolTest const test;
  std::size_t const bytes = GENERATE(1000, 100 * KiB, 3 * MiB);
  Blocks blocks;
  blocks.add(bytes);
  std::size_t const own = PoolTest::usage().bytes_locked;
  PoolTest::reserve(64 * MiB, 64 * MiB).wait();
  for (std::size_t used = 0; used < own + 48 * MiB; used += bytes) blocks.add(bytes);
  CHECK(PoolTest::usage().bytes_locked == own + 64 * MiB);
}

TEST_CASE("of memory that the driver gave, or that is not the pool's, nothing is called zero") {
  PoolTest const test(1);
  bool const from_driver = Driver::device_count() > 0;
  Blocks blocks;
  for (std::size_t bytes : {std::size_t(100), 100 * KiB, 3 * MiB})
    CHECK(dirty_of(blocks.add(bytes, MemoryKind::write_combined), bytes) ==
          (from_driver ? bytes : 0));
  std::vector<char> const other(10000);
  CHECK(dirty_of(other.data(), other.size()) == other.size());
  CHECK(dirty_of(nullptr, 1) == 1);
}

TEST_CASE("memory that is scrubbed shows nothing of its last owner", "[.][scrub]") {
  PoolTest const test;
  for (std::size_t const bytes : {std::size_t(64), std::size_t(4000), 300 * KiB, 2 * MiB, 20 * MiB})
    for (int round = 0; round < 4; ++round) {
      char* const block = PoolTest::allocate(bytes - std::size_t(round));
      REQUIRE(all_zero(block, bytes - std::size_t(round)));
      std::memset(block, 0x5a, bytes - std::size_t(round));
      Pool::deallocate(block);
      if (round % 2 == 0) PoolTest::make_ready();
    }
}

// With KOKKOS_HOST_SPACES_NODE_LIMIT=256M, NODE_RANKS=4 and POOL_LIMIT=1G.
TEST_CASE("a rank has its share of the node's limit, and a shortage says so", "[.node_limit]") {
  CHECK(pool::statistics().limit == 0);  // before the first use
  Pool::deallocate(PoolTest::allocate(1));
  CHECK(pool::statistics().limit == 64 * MiB);  // and not POOL_LIMIT
  PoolTest const test(1);
  pool::set_limit(32 * MiB);
  CHECK(pool::statistics().limit == 32 * MiB);
  // A message names the limit that decides: here not the share.
  CHECK_THAT(refusal(33 * MiB), ContainsSubstring("limit of the pool 33554432 bytes, ") &&
                                    ContainsSubstring("khs::pool::set_limit") &&
                                    !ContainsSubstring("NODE_"));
  pool::set_limit(0);
  CHECK(pool::statistics().limit == 64 * MiB);
  CHECK(pool::statistics().node_share.bytes == 64 * MiB);
  CHECK(pool::statistics().node_share.ranks == 4);
  auto const tells_share =
      ContainsSubstring("67108864 bytes for 1 of 4 ranks (KOKKOS_HOST_SPACES_NODE_RANKS)");
  CHECK_THAT(refusal(65 * MiB), tells_share);
  CHECK_THAT(refusal_of([] { PoolTest::reserve(80 * MiB, 16 * MiB).wait(); }), tells_share);
  Pool::deallocate(PoolTest::allocate(32 * MiB));
}
