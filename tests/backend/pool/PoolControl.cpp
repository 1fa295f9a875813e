// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Watching and steering the pool.

#include "../../../backend/pool/Meter.hpp"
#include "PoolTest.hpp"

#include <barrier>
#include <deque>
#include <latch>

TEST_CASE("what is locked is in use, retired or cached") {
  PoolTest const test;
  std::vector<char*> blocks;
  for (std::size_t i = 1; i <= 40; ++i) blocks.push_back(PoolTest::allocate(i * i * 700));
  for (std::size_t i = 0; i < blocks.size(); i += 2) Pool::deallocate(blocks[i]);
  pool::Usage const usage = PoolTest::usage();
  CHECK(usage.bytes_in_use + usage.bytes_retired + usage.bytes_cached == usage.bytes_locked);
  CHECK(usage.bytes_asked <= usage.bytes_in_use);
  CHECK(usage.bytes_high_water > usage.bytes_in_use);
  CHECK(usage.misses > 0);
  CHECK(usage.hits > 0);
  CHECK(usage.segments > 0);
  CHECK(usage.seconds_locking > 0);
  for (std::size_t i = 1; i < blocks.size(); i += 2) Pool::deallocate(blocks[i]);
}

TEST_CASE("what one heap gives back and another takes is not counted twice in the most in use") {
  Meter total;
  std::array<Meter, 2> pools;
  HeapMeter large(pools[0], total, HeapMeter::Tells::when_asked);
  HeapMeter small(pools[0], total, HeapMeter::Tells::soon);
  HeapMeter other(pools[1], total, HeapMeter::Tells::when_asked);
  for (HeapMeter* const meter : {&large, &small, &other, &large}) {
    meter->add(100 * MiB);
    meter->subtract(100 * MiB);
  }
  CHECK(pools[0].high_water() == 100 * MiB);
  CHECK(pools[1].high_water() == 100 * MiB);
  CHECK(total.high_water() == 100 * MiB);
  large.add(70 * MiB);
  other.add(40 * MiB);
  CHECK(total.high_water() == 110 * MiB);
}

TEST_CASE("what is in use at no moment is no high, whatever threads give back and take") {
  constexpr std::size_t large_bytes = 64 * MiB, small_bytes = 12 * MiB;
  constexpr int threads = 4, rounds = sanitized ? 100 : 2000;
  Meter pool, total;
  HeapMeter large(pool, total, HeapMeter::Tells::when_asked);
  std::deque<HeapMeter> small;
  for (int t = 0; t < threads; ++t) small.emplace_back(pool, total, HeapMeter::Tells::soon);
  std::barrier together(threads);
  std::vector<std::jthread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      HeapMeter& mine = small[static_cast<std::size_t>(t)];
      for (int round = 0; round < rounds; ++round) {
        if (t == 0) {
          large.add(large_bytes);
          large.subtract(large_bytes);
        }
        together.arrive_and_wait();
        mine.add(small_bytes);
        together.arrive_and_wait();
        mine.subtract(small_bytes);
        together.arrive_and_wait();
      }
    });
  team.clear();
  CHECK(pool.high_water() <= large_bytes);
  CHECK(total.high_water() <= large_bytes);
}

TEST_CASE("statistics tell the memory spaces apart") {
  PoolTest const test;
  Pool::Request of_a{1000, MemoryKind::page_locked, -1, "SpaceA", "x"};
  Pool::Request of_b{2 * MiB, MemoryKind::page_locked, -1, "SpaceB", "y"};
  static char const same_name[] = "SpaceB";
  Pool::Request of_b_too        = of_b;
  of_b_too.space                = same_name;
  std::vector<void*> const blocks{Pool::allocate(of_a), Pool::allocate(of_b),
                                  Pool::allocate(of_b_too)};
  std::size_t found = 0;
  for (pool::SpaceUsage const& space : pool::statistics().spaces) {
    if (space.space == "SpaceA") {
      ++found;
      CHECK(space.bytes_asked == 1000);
      CHECK(space.blocks == 1);
    }
    if (space.space == "SpaceB") {
      ++found;
      CHECK(space.bytes_in_use == 4 * MiB);
      CHECK(space.blocks == 2);
    }
  }
  CHECK(found == 2);
  for (void* const block : blocks) Pool::deallocate(block);
}

TEST_CASE("a description is found from any address inside the block") {
  PoolTest const test;
  std::size_t const bytes = GENERATE(300, 50 * KiB, 3 * MiB, 20 * MiB);
  char* const before      = PoolTest::allocate(bytes, "before");
  char* const block       = PoolTest::allocate(bytes, "pressure");
  for (std::size_t const offset : {std::size_t(0), std::size_t(128), bytes / 2, bytes - 1}) {
    auto const description = pool::describe(block + offset);
    REQUIRE(description.has_value());
    CHECK(description->label == "pressure");
    CHECK(description->space == "TestSpace");
    CHECK(description->bytes == bytes);
    CHECK(description->kind == MemoryKind::page_locked);
    CHECK(description->state == pool::State::in_use);
  }
  Pool::deallocate(block);
  CHECK(pool::describe(block)->state != pool::State::in_use);
  pool::trim(1000 * MiB);
  CHECK(pool::describe(block)->state == pool::State::cached);
  CHECK(pool::describe(block)->label.empty());
  CHECK(pool::describe(before)->label == "before");
  Pool::deallocate(before);
  int local = 0;
  CHECK_FALSE(pool::describe(&local).has_value());
  CHECK_FALSE(pool::describe(nullptr).has_value());
}

TEST_CASE("of a long label the beginning is kept") {
  PoolTest const test;
  char* const block = PoolTest::allocate(100, std::string(200, 'x').c_str());
  CHECK(pool::describe(block)->label == std::string(47, 'x'));
  Pool::deallocate(block);
}

TEST_CASE("trim gives back what nobody uses and keeps what it shall keep") {
  PoolTest const test;
  char* const kept = PoolTest::allocate(20 * MiB);
  std::vector<char*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(PoolTest::allocate(30 * MiB));
  for (int i = 0; i < 1000; ++i) blocks.push_back(PoolTest::allocate(1000));
  for (char* const block : blocks) Pool::deallocate(block);
  CHECK(pool::trim(70 * MiB) > 0);
  CHECK(PoolTest::usage().bytes_cached <= 70 * MiB);
  CHECK(PoolTest::usage().bytes_cached > 0);
  pool::trim(0);
  CHECK(PoolTest::usage().bytes_cached == 0);
  CHECK(PoolTest::usage().bytes_locked == PoolTest::usage().bytes_in_use);
  kept[20 * MiB - 1] = 'k';
  Pool::deallocate(kept);
  pool::trim(0);
  CHECK(PoolTest::usage().bytes_locked == 0);
  CHECK(PoolTest::usage().segments == 0);
}

TEST_CASE("reserved memory serves allocations of every size without locking more") {
  PoolTest const test;
  pool::Reservation const reservation =
      Pool::reserve(192 * MiB, MemoryKind::page_locked, -1, 96 * MiB);
  CHECK(reservation.bytes_asked() == 192 * MiB);
  reservation.wait();
  CHECK(reservation.finished());
  CHECK(reservation.bytes_done() == 192 * MiB);
  CHECK(PoolTest::usage().bytes_locked == 192 * MiB);
  std::size_t const misses = PoolTest::usage().misses;
  std::vector<char*> blocks;
  for (std::size_t const bytes : {std::size_t(100), 40 * KiB, 3 * MiB, 90 * MiB, 60 * MiB}) {
    blocks.push_back(PoolTest::allocate(bytes));
  }
  CHECK(PoolTest::usage().misses == misses);
  CHECK(PoolTest::usage().bytes_locked == 192 * MiB);
  for (char* const block : blocks) Pool::deallocate(block);
}

TEST_CASE("a reservation beyond the limit ends with an exception and keeps what it has") {
  PoolTest const test;
  pool::set_limit(40 * MiB);
  pool::Reservation const reservation =
      Pool::reserve(64 * MiB, MemoryKind::page_locked, -1, 16 * MiB);
  CHECK_THROWS_AS(reservation.wait(), OutOfPinnedMemory);
  CHECK(reservation.bytes_done() == 32 * MiB);
  CHECK(reservation.finished());
}

TEST_CASE("asking for statistics takes no longer when there are many blocks") {
  if (sanitized) SKIP("times are those of the sanitizer");
  PoolTest const test;
  std::vector<char*> blocks;
  for (int i = 0; i < 300000; ++i) blocks.push_back(PoolTest::allocate(256));
  for (char* const block : blocks) Pool::deallocate(block);
  auto const start = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) CHECK(pool::statistics().total.bytes_in_use == 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(4));
}

TEST_CASE("owners are told, memory is kept and trimmed while threads allocate and free") {
  PoolTest const test(1);
  constexpr int rounds = 100;
  char* const before = PoolTest::allocate(30 * MiB);  // is cut and put together beside what is held
  char* const held   = PoolTest::allocate(5 * MiB, "held");
  Pool::deallocate(before);
  std::atomic<int> wrong{0};
  std::latch start(5);
  std::vector<std::jthread> team;
  for (int thread = 0; thread < 2; ++thread) {
    team.emplace_back([&] {
      start.arrive_and_wait();
      for (std::size_t i = 0; i < rounds; ++i) {
        char* const small = PoolTest::allocate(1000);
        char* const large = PoolTest::allocate((1 + i % 7) * 3 * MiB);
        small[0] = large[0] = 'x';
        Pool::deallocate(small);
        Pool::deallocate(large);
      }
    });
  }
  for (int thread = 0; thread < 2; ++thread) {
    team.emplace_back([&] {
      start.arrive_and_wait();
      for (int i = 0; i < 5 * rounds; ++i) {
        auto const owner  = pool::describe(held + MiB);
        auto const extent = Pool::extent_of(held + MiB);
        wrong += !owner || owner->label != "held" || !extent || extent->begin != held;
        void* const kept = Pool::keep(held + MiB).handle;
        wrong += kept == nullptr;
        Pool::let_go(kept);
      }
    });
  }
  team.emplace_back([&] {
    start.arrive_and_wait();
    for (int i = 0; i < rounds; ++i) {
      pool::trim(0);
      wrong += PoolTest::usage().bytes_in_use < 5 * MiB;
    }
  });
  team.clear();
  CHECK(wrong == 0);
  Pool::deallocate(held);
}

TEST_CASE("who owns an address is found as fast among many blocks as among few") {
  PoolTest const test;
  constexpr std::size_t bytes = 36 * KiB, segment = (sanitized ? 256 : 1024) * MiB;
  Pool::reserve(segment, MemoryKind::page_locked, -1, segment).wait();
  std::vector<char*> blocks;
  while (blocks.size() < segment / bytes) blocks.push_back(PoolTest::allocate(bytes));
  auto const [first, last] = std::minmax_element(blocks.begin(), blocks.end());
  auto const fastest       = [](char const* inside) {
    auto least = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 100; ++i) {
      auto const start = std::chrono::steady_clock::now();
      bool const known = pool::describe(inside).has_value() && Pool::extent_of(inside).has_value();
      least            = std::min(least, std::chrono::steady_clock::now() - start);
      REQUIRE(known);
    }
    return least;
  };
  CHECK(fastest(*last + bytes / 2) < 5 * fastest(*first + bytes / 2));
  for (char* const block : blocks) Pool::deallocate(block);
}

TEST_CASE("65536 small allocations need at most 64 registered segments") {
  PoolTest const test(1);
  std::size_t const before = pool::statistics().registered_segments;
  std::vector<char*> blocks;
  for (std::size_t i = 0; i < 65536; ++i) blocks.push_back(PoolTest::allocate(64 + i % 2048));
  CHECK(pool::statistics().registered_segments > before);
  CHECK(pool::statistics().registered_segments <= before + 64);
  for (char* const block : blocks) Pool::deallocate(block);
}

TEST_CASE("each range that the user registers counts as a registered segment") {
  PoolTest const test(1);
  std::vector<char> memory(3 * page_bytes());
  std::size_t const before = pool::statistics().registered_segments;
  register_range(memory.data(), page_bytes(), "first");
  register_range(memory.data() + 2 * page_bytes(), page_bytes(), "second");
  CHECK(pool::statistics().registered_segments == before + 2);
  CHECK(unregister_range(memory.data()).empty());
  CHECK(unregister_range(memory.data() + 2 * page_bytes()).empty());
  CHECK(pool::statistics().registered_segments == before);
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
  std::string const message = [] {
    try {
      Pool::deallocate(PoolTest::allocate(33 * MiB));
    } catch (OutOfPinnedMemory const& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  CHECK_THAT(message, ContainsSubstring("limit of the pool 33554432 bytes, "));
  CHECK_THAT(message, ContainsSubstring("khs::pool::set_limit"));
  CHECK_THAT(message, !ContainsSubstring("NODE_"));
  pool::set_limit(0);
  CHECK(pool::statistics().limit == 64 * MiB);
  CHECK(pool::statistics().node_share.bytes == 64 * MiB);
  CHECK(pool::statistics().node_share.ranks == 4);
  auto const tells_share = MessageMatches(
      ContainsSubstring("67108864 bytes for 1 of 4 ranks (KOKKOS_HOST_SPACES_NODE_RANKS)"));
  CHECK_THROWS_MATCHES(PoolTest::allocate(65 * MiB), OutOfPinnedMemory, tells_share);
  CHECK_THROWS_MATCHES(Pool::reserve(80 * MiB, MemoryKind::page_locked, -1, 16 * MiB).wait(),
                       OutOfPinnedMemory, tells_share);
  Pool::deallocate(PoolTest::allocate(32 * MiB));
}
