// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Threads that want memory while others lock it or give it back.

#include "../../support/FakeCuda.hpp"
#include "PoolTest.hpp"

#include <barrier>

using std::chrono::milliseconds;

TEST_CASE("threads that need no more than the limit allows wait for memory that is in transit") {
  struct Need {
    int threads, starts, rounds;
    std::size_t limit, least, step;
  };
  // Ever larger, so that nothing which is cached fits, and much must be given back; and parts of one segment.
  auto const need =
      GENERATE(Need{6, 1, 12, 260 * MiB, 16 * MiB, 2 * MiB}, Need{8, 10, 1, 4 * MiB, 100 * KiB, 0});
  std::atomic<int> refused{0};
  for (int start = 0; start < need.starts; ++start) {
    PoolTest const test(1);
    pool::set_limit(need.limit);
    FakeCuda::registering_takes(milliseconds(2));
    std::barrier together(need.threads);
    in_threads(need.threads, [&](int) {
      for (int i = 0; i < need.rounds; ++i) {
        Blocks blocks;
        together.arrive_and_wait();
        refused += blocks.try_add(need.least + std::size_t(i) * need.step) ? 0 : 1;
        together.arrive_and_wait();
        blocks.deallocate();
      }
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
