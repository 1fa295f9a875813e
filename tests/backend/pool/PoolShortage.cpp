// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the pool does when the limit, or the system, gives no more.

#include "../../../backend/pool/Ledger.hpp"
#include "PoolTest.hpp"

#include <latch>
#include <limits>

TEST_CASE("a ledger's sums do not wrap") {
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  Ledger ledger(0);
  CHECK(ledger.reserve(100));
  CHECK_FALSE(ledger.reserve(huge));
  CHECK(ledger.locked() == 100);
  CHECK(ledger.excess(huge) == 100);
  CHECK(ledger.excess(huge - 100) == 0);
  ledger.set_limit(1000);
  CHECK_FALSE(ledger.reserve(901));
  CHECK(ledger.reserve(900));
  CHECK(ledger.excess(50) == 50);
  CHECK(ledger.excess(huge) == huge);
  ledger.set_limit(10);
  CHECK(ledger.excess(0) == 990);
  CHECK(ledger.excess(20) == 1010);
}

TEST_CASE("memory that is locked or given back is in transit until it has arrived") {
  Ledger ledger(0);
  auto const changes = ledger.changes();
  CHECK(ledger.reserve(100));
  CHECK(ledger.in_transit());
  ledger.arrived();
  CHECK_FALSE(ledger.in_transit());
  CHECK(ledger.changes() != changes);
  ledger.leaves();
  CHECK(ledger.in_transit());
  ledger.release(100);
  CHECK_FALSE(ledger.in_transit());
  CHECK(ledger.locked() == 0);
}

TEST_CASE("threads that need half of what the limit allows are never refused") {
  PoolTest const test;
  std::size_t const thread_count = GENERATE(2, 4, 16);
  constexpr std::size_t largest  = 24 * MiB;
  pool::set_limit(2 * thread_count * largest);
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 60; ++i) {
        try {
          Pool::deallocate(PoolTest::allocate((1 + random() % 24) * MiB));
        } catch (OutOfPinnedMemory const&) {
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == 0);
  CHECK(PoolTest::usage().bytes_locked <= 2 * thread_count * largest);
}

TEST_CASE("what cannot be had at all is refused without giving the cache away") {
  PoolTest const test;
  char* const used = PoolTest::allocate(60 * MiB);
  Pool::deallocate(PoolTest::allocate(100 * MiB));
  pool::trim(1000 * MiB);
  std::size_t const locked = PoolTest::usage().bytes_locked;
  std::size_t const limit  = GENERATE(0, 200 * MiB);
  pool::set_limit(limit);
  CHECK_THROWS_AS(PoolTest::allocate(limit == 0 ? std::size_t(1) << 55 : 201 * MiB),
                  OutOfPinnedMemory);
  if (limit > 0) CHECK_THROWS_AS(PoolTest::allocate(150 * MiB), OutOfPinnedMemory);
  CHECK(PoolTest::usage().bytes_locked == locked);
  Pool::deallocate(used);
}

TEST_CASE("at the limit a segment that fits is given back, not the first one") {
  PoolTest const test;
  std::vector<char*> blocks;
  for (std::size_t const size : {512, 32, 64}) blocks.push_back(PoolTest::allocate(size * MiB));
  for (char* const block : blocks) Pool::deallocate(block);
  pool::trim(1000 * MiB);
  pool::set_limit(618 * MiB);
  void* const other =
      Pool::allocate({40 * MiB, MemoryKind::write_combined, -1, "TestSpace", "of another kind"});
  CHECK(PoolTest::usage().bytes_locked == (512 + 64 + 40) * MiB);
  Pool::deallocate(other);
}

TEST_CASE("at the limit a heap with a segment that fits gives it back, not the first one") {
  PoolTest const test;
  auto const allocate = [](std::size_t bytes, MemoryKind kind) {
    return Pool::allocate({bytes, kind, -1, "TestSpace", "x"});
  };
  auto const small_kind = GENERATE(MemoryKind::page_locked, MemoryKind::write_combined);
  auto const large_kind =
      small_kind == MemoryKind::page_locked ? MemoryKind::write_combined : MemoryKind::page_locked;
  void* const large = allocate(256 * MiB, large_kind);
  Pool::deallocate(allocate(64 * MiB, small_kind));
  Pool::deallocate(large);
  pool::trim(1000 * MiB);
  pool::set_limit(330 * MiB);
  Pool::deallocate(Pool::allocate({40 * MiB, small_kind, 0, "TestSpace", "of another node"}));
  CHECK(PoolTest::usage().bytes_locked == (256 + 40) * MiB);
}

TEST_CASE("at the limit threads find what others have left, wherever it lies") {
  PoolTest const test;
  pool::set_limit(32 * MiB);
  std::vector<char*> kept;
  while (PoolTest::usage().bytes_in_use < 28 * MiB) kept.push_back(PoolTest::allocate(200 * KiB));
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        try {
          Pool::deallocate(PoolTest::allocate(1000));
        } catch (OutOfPinnedMemory const&) {
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == 0);
  for (char* const block : kept) Pool::deallocate(block);
}

TEST_CASE("a thread that found another in its way comes back to what all share") {
  PoolTest const test;
  NodePool& pool            = Pools::instance().of(MemoryKind::page_locked, -1);
  auto const is_with_others = [&] { return &pool.enter(1000).heap == &pool.common(); };
  std::latch held(1), seen(1);
  std::thread other([&] {
    std::lock_guard const in_the_way(pool.common().mutex);
    held.count_down();
    seen.wait();
  });
  held.wait();
  CHECK_FALSE(is_with_others());
  seen.count_down();
  other.join();
  int apart = 0;
  while (apart < 10000 && !is_with_others()) ++apart;
  CHECK(apart > 100);
  CHECK(apart < 10000);
}

TEST_CASE("threads that get in each other's way use what was reserved") {
  PoolTest const test;
  Pool::reserve(64 * MiB, MemoryKind::page_locked, -1, 64 * MiB).wait();
  std::size_t const misses = PoolTest::usage().misses;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      std::vector<char*> blocks;
      for (int i = 0; i < 2000; ++i) blocks.push_back(PoolTest::allocate(1000));
      for (char* const block : blocks) Pool::deallocate(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(PoolTest::usage().misses == misses);
  CHECK(PoolTest::usage().bytes_locked == 64 * MiB);
}

TEST_CASE("64 threads allocate and give back at once, and nobody is left waiting") {
  PoolTest const test;
  std::atomic<std::size_t> done{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 64; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 200; ++i) {
        char* const block = PoolTest::allocate(1 + random() % (64 * KiB));
        block[0]          = 'x';
        Pool::deallocate(block);
      }
      ++done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(done == 64);
  CHECK(PoolTest::usage().bytes_in_use == 0);
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
      auto const kind   = first ? MemoryKind::page_locked : MemoryKind::write_combined;
      void* const block = Pool::allocate({bytes, kind, first ? -1 : last, "TestSpace", "hopping"});
      auto const until  = std::chrono::steady_clock::now() + std::chrono::microseconds(2);
      while (std::chrono::steady_clock::now() < until) ++hops;
      Pool::deallocate(block);
    }
  });
  while (hops < 10000) std::this_thread::yield();
  std::size_t most = 0;
  for (int i = 0; i < (sanitized ? 2000 : 50000); ++i)
    most = std::max(most, pools.traffic().in_use());
  CHECK(most <= bytes);
}

TEST_CASE("threads that need exactly what the limit allows are never refused") {
  PoolTest const test;
  constexpr std::size_t bytes = 16 * MiB;
  pool::set_limit(2 * bytes);
  std::atomic<int> refused{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 150; ++i) {
        auto const kind = random() % 2 == 0 ? MemoryKind::page_locked : MemoryKind::write_combined;
        try {
          Pool::deallocate(Pool::allocate({bytes, kind, -1, "TestSpace", "exact"}));
        } catch (OutOfPinnedMemory const&) {
          ++refused;
        }
      }
    });
  }
  threads.clear();
  CHECK(refused == 0);
}
