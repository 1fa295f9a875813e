// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Threads that want memory while others lock it or give it back.

#include "../../../backend/pool/Ledger.hpp"
#include "../../support/FakeCuda.hpp"
#include "PoolTest.hpp"

#include <barrier>
#include <stop_token>

using std::chrono::milliseconds;

TEST_CASE("threads that need less than the limit allows wait for memory that is in transit") {
  PoolTest const test(1);
  constexpr int thread_count   = 6;
  constexpr std::size_t rounds = 12;
  pool::set_limit(thread_count * 40 * MiB + 20 * MiB);
  FakeCuda::registering_takes(milliseconds(2));
  std::atomic<int> refused{0};
  std::barrier together(thread_count);
  in_threads(thread_count, [&](int) {
    // Ever larger, so that nothing which is cached fits, and much must be given back.
    for (std::size_t i = 0; i < rounds; ++i) {
      Blocks blocks;
      refused += blocks.try_add((16 + 2 * i) * MiB) ? 0 : 1;
      together.arrive_and_wait();
      blocks.deallocate();
      together.arrive_and_wait();
    }
  });
  FakeCuda::registering_takes(milliseconds(0));
  CHECK(refused == 0);
}

TEST_CASE("at a limit of one segment threads wait for the one that is being locked") {
  std::atomic<int> refused{0};
  for (int start = 0; start < 10; ++start) {
    PoolTest const test(1);
    pool::set_limit(4 * MiB);
    FakeCuda::registering_takes(milliseconds(2));
    std::barrier together(8);
    in_threads(8, [&](int) {
      Blocks blocks;
      together.arrive_and_wait();
      refused += blocks.try_add(100 * KiB) ? 0 : 1;
      together.arrive_and_wait();
    });
    FakeCuda::registering_takes(milliseconds(0));
  }
  CHECK(refused == 0);
}

TEST_CASE("reservations wait for memory that is in transit to make room for them") {
  PoolTest const test(1);
  pool::set_limit(64 * MiB);
  Pool::deallocate(PoolTest::allocate(60 * MiB));
  FakeCuda::registering_takes(milliseconds(20));
  std::vector<pool::Reservation> reservations;
  for (int i = 0; i < 2; ++i) reservations.push_back(PoolTest::reserve(28 * MiB, 28 * MiB));
  for (pool::Reservation const& reservation : reservations) CHECK_NOTHROW(reservation.wait());
  FakeCuda::registering_takes(milliseconds(0));
}

TEST_CASE("threads that find nothing at the same time do not each lock memory for all") {
  PoolTest const test(1);
  FakeCuda::registering_takes(milliseconds(20));
  std::barrier together(8);
  in_threads(8, [&](int) {
    together.arrive_and_wait();
    Blocks blocks;
    blocks.add(5 * MiB / 4);  // three in a segment
    together.arrive_and_wait();
  });
  FakeCuda::registering_takes(milliseconds(0));
  CHECK(PoolTest::usage().segments <= 4);
}

TEST_CASE("what leaves a heap is in transit before it is missing there") {
  PoolTest const test(1);
  std::jthread const other([](std::stop_token const& stop) {
    while (!stop.stop_requested()) {
      Pool::deallocate(PoolTest::allocate(2 * MiB));
      pool::trim(0);
    }
  });
  Ledger const& ledger = Pools::instance().ledger;
  Heap const& heap     = Pools::instance().of(MemoryKind::page_locked, -1).middle();
  int taken_for_good   = 0;
  auto const end       = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 1000; ++i) {
      auto const changes    = ledger.changes();
      std::size_t const all = ledger.locked();
      bool const elsewhere  = heap.locked_bytes() < all;
      bool const in_transit = ledger.in_transit();
      if (elsewhere && !in_transit && changes == ledger.changes()) ++taken_for_good;
    }
  }
  CHECK(taken_for_good == 0);
}
