// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// KOKKOS_HOST_SPACES_POOL=off: an executable of its own, for the environment is read once.

#include "PoolTest.hpp"

#include <ctime>

namespace {

bool const switched_off = setenv("KOKKOS_HOST_SPACES_POOL", "off", 1) == 0;

}  // namespace

TEST_CASE("without caching, memory goes back to the system before more is taken") {
  REQUIRE(switched_off);
  PoolTest const test;
  std::size_t const bytes = GENERATE(1000, 100 * KiB, 20 * MiB);
  for (int i = 0; i < 10; ++i) {
    char* const block       = PoolTest::allocate(bytes);
    pool::Usage const usage = PoolTest::usage();
    CHECK(usage.segments == 1);
    CHECK(usage.bytes_locked <= 22 * MiB);
    block[0] = block[bytes - 1] = 'x';
    Pool::deallocate(block);
  }
  char* const large = PoolTest::allocate(30 * MiB);
  char* const small = PoolTest::allocate(1000);
  CHECK(PoolTest::usage().segments == 2);
  Pool::deallocate(large);
  Pool::deallocate(small);
}

TEST_CASE("without caching, an allocation takes no longer when there are many blocks") {
  if (sanitized) SKIP("times are those of the sanitizer");
  PoolTest const test;
  Blocks blocks;
  auto const time_of_more = [&] {
    std::clock_t const start = std::clock();  // of the processor: others may keep it busy
    for (int i = 0; i < 2000; ++i) blocks.add(40 * KiB);
    return std::clock() - start;
  };
  auto const first = time_of_more();
  time_of_more();
  CHECK(time_of_more() < 3 * first);
}
