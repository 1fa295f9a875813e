// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What only the fake runtime can do: be old, fail, shut down; and forks, which a real one does not
// survive.

#include "../../support/DeviceWork.hpp"
#include "../../support/FailNth.hpp"
#include "../../support/FakeCuda.hpp"
#include "../../support/Sanitized.hpp"
#include "PoolTest.hpp"

#include <sys/wait.h>

TEST_CASE("without events the pool does not grow for ever, and gives back what is done") {
  PoolTest const test(1);
  FakeCuda::use_old_driver();
  std::size_t const bytes = GENERATE(sanitized ? 60000 : 20000, 100 * KiB, 3 * MiB, 20 * MiB);
  DeviceWork::Stream stream;
  std::size_t most = 0;
  for (std::size_t used = 0; used < 200 * MiB; used += bytes) {
    char* const block = PoolTest::allocate(bytes);
    stream.run([] {});
    Pool::deallocate(block);
    most = std::max(most, PoolTest::usage().bytes_locked);
    // The device is waited for only where the pool may not grow.
    if (used == 0) CHECK(FakeCuda::calls("cuCtxSynchronize") == 0);
  }
  CHECK(most < 100 * MiB);
  stream.wait();
  SECTION("trim") { pool::trim(0); }
  SECTION("limit") { pool::set_limit(1); }
  CHECK(PoolTest::usage().bytes_locked == 0);
}

TEST_CASE("when the system locks no more, what is cached makes room, for a reservation too") {
  PoolTest const test(1);
  for (int i = 0; i < 3; ++i) Pool::deallocate(PoolTest::allocate(20 * MiB));
  FakeCuda::pin_at_most(70 * MiB);
  Pool::deallocate(PoolTest::allocate(50 * MiB));
  CHECK_NOTHROW(Pool::reserve(60 * MiB).wait());
  CHECK(PoolTest::usage().bytes_locked <= 70 * MiB);
  CHECK_THROWS_AS(Pool::reserve(20 * MiB).wait(), OutOfPinnedMemory);
  CHECK(PoolTest::usage().bytes_locked == 60 * MiB);
}

TEST_CASE("if a segment cannot be unlocked, it is lost, and all others stay cached") {
  PoolTest const test(1);
  Blocks blocks;
  for (int i = 0; i < 3; ++i) blocks.add(20 * MiB);
  blocks.deallocate();
  FakeCuda::fail_nth_call("cudaHostUnregister", 1);
  SECTION("trim") { CHECK(pool::trim(0) == 0); }
  SECTION("a lower limit") { pool::set_limit(1); }
  FakeCuda::fail_no_more();
  CHECK(PoolTest::usage().bytes_cached == 40 * MiB);
  CHECK(Pools::instance().ledger.locked() == 60 * MiB);
  CHECK(pool::trim(0) == 40 * MiB);
}

TEST_CASE("what the system refuses to a single thread is not asked of it again and again") {
  PoolTest const test(1);
  FakeCuda::pin_at_most(30 * MiB);
  CHECK_THROWS_AS(PoolTest::allocate(40 * MiB), OutOfPinnedMemory);
  CHECK(FakeCuda::calls("cudaHostRegister") <= 2);
}

TEST_CASE("memory may be given back after the runtime has shut down") {
  PoolTest const test(1);
  char* const small = PoolTest::allocate(100);
  char* const large = PoolTest::allocate(20 * MiB);
  FakeCuda::shut_down();
  Pool::deallocate(small);
  Pool::deallocate(large);
  CHECK(PoolTest::usage().bytes_in_use == 0);
  Pool::release_all();
  FakeCuda::reset(1);
}

TEST_CASE("a pool that could not be made leaves nothing behind") {
  PoolTest const test(1);
  int node = 500;
  FailNth::for_each_failure([&](FailNth::Failure const& failure) {
    FailNth::Planned const planned(failure);
    try {
      Pools::instance().of(MemoryKind::page_locked, node++);
    } catch (std::bad_alloc const&) {
    }
    return FailNth::is_met();
  });
  // What was left behind would be overwritten here, and read when a new high is noted.
  std::vector<std::vector<char>> others;
  for (std::size_t bytes = 512; bytes < 64 * KiB; bytes += 512) others.emplace_back(bytes, 'x');
  std::size_t const before = PoolTest::usage().bytes_high_water;
  char* const block        = PoolTest::allocate(before + 20 * MiB);
  CHECK(PoolTest::usage().bytes_high_water >= before + 20 * MiB);
  Pool::deallocate(block);
}
