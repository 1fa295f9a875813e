// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the pool counts, and how fast it tells.

#include "../../../backend/pool/Meter.hpp"
#include "PoolTest.hpp"

#include <barrier>
#include <deque>
#include <latch>

TEST_CASE("what is in use at no moment is no high, whatever threads give back and take") {
  constexpr std::size_t large_bytes = 64 * MiB, small_bytes = 12 * MiB;
  constexpr int threads = 4, rounds = sanitized ? 100 : 1000;
  Meter pool, total;
  HeapMeter large(pool, total, HeapMeter::Tells::when_asked);
  std::deque<HeapMeter> small;
  for (int t = 0; t < threads; ++t) small.emplace_back(pool, total, HeapMeter::Tells::soon);
  std::barrier together(threads);
  in_threads(threads, [&](int t) {
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
  CHECK(pool.high_water() <= large_bytes);
  CHECK(total.high_water() <= large_bytes);
}

TEST_CASE("what is in use is summed up at one moment, while blocks go from pool to pool") {
  PoolTest const test;
  constexpr std::size_t bytes = 2 * MiB;  // each pool keeps what it has
  constexpr int last          = 60;
  Pools& pools                = Pools::instance();
  for (int node = 0; node <= last; ++node) pools.of(MemoryKind::write_combined, node);
  std::atomic<unsigned> hops{0};
  std::jthread const hopping([&hops](std::stop_token const& stop) {
    for (unsigned i = 0; !stop.stop_requested(); ++i) {
      bool const first  = i % 2 == 0;  // or the last that is read
      char* const block = first ? PoolTest::allocate(bytes)
                                : PoolTest::allocate(bytes, "x", last, MemoryKind::write_combined);
      auto const until  = std::chrono::steady_clock::now() + std::chrono::microseconds(2);
      while (std::chrono::steady_clock::now() < until) ++hops;
      Pool::deallocate(block);
    }
  });
  while (hops < 2000) std::this_thread::yield();
  std::size_t most = 0;
  for (int i = 0; i < (2000); ++i) most = std::max(most, pools.traffic().in_use());
  CHECK(most <= bytes);
}

TEST_CASE("trim keeps what it shall keep") {
  PoolTest const test;
  Blocks kept, blocks;
  kept.add(20 * MiB);
  for (int i = 0; i < 4; ++i) blocks.add(30 * MiB);
  for (int i = 0; i < 1000; ++i) blocks.add(1000);
  blocks.deallocate();
  CHECK(pool::trim(70 * MiB) > 0);
  CHECK(PoolTest::usage().bytes_cached <= 70 * MiB);
  CHECK(PoolTest::usage().bytes_cached > 0);
  pool::trim(0);
  CHECK(PoolTest::usage().bytes_locked == 20 * MiB);
}

TEST_CASE("the pool allocates, gives back and tells as fast among many blocks as among few") {
  PoolTest const test;
  constexpr std::size_t bytes = 36 * KiB, segment = 256 * MiB;
  PoolTest::reserve(segment, segment).wait();
  Blocks blocks;
  auto const fastest = [](char const* inside) {
    auto least = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 200; ++i) {
      auto const start = std::chrono::steady_clock::now();
      Pool::deallocate(PoolTest::allocate(bytes));
      bool const known = pool::describe(inside) && Pool::extent_of(inside) &&
                         pool::statistics().total.segments > 0;
      least = std::min(least, std::chrono::steady_clock::now() - start);
      REQUIRE(known);
    }
    return least;
  };
  auto const among_few = fastest(blocks.add(bytes));
  while (blocks.size() < segment / bytes - 1) blocks.add(bytes);
  auto const [first, last] = std::minmax_element(blocks.begin(), blocks.end());
  CHECK(fastest(*first + bytes / 2) < 5 * among_few);
  CHECK(fastest(*last + bytes / 2) < 5 * among_few);
}

TEST_CASE("65536 small allocations need at most 64 registered segments, a user's range is one") {
  PoolTest const test(1);
  auto const segments      = [] { return pool::statistics().registered_segments; };
  std::size_t const before = segments();
  Blocks blocks;
  for (std::size_t i = 0; i < 65536; ++i) blocks.add(64 + i % 2048);
  std::size_t const with_blocks = segments();
  CHECK((with_blocks > before && with_blocks <= before + 64));
  std::vector<char> memory(page_bytes());
  register_range(memory.data(), memory.size(), "of the user");
  CHECK(segments() == with_blocks + 1);
  CHECK(unregister_range(memory.data()).empty());
  CHECK(segments() == with_blocks);
}
