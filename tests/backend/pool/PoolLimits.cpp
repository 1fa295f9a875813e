// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Limits: what fits is served, from wherever it lies, and a refusal says which limit refused. PoolModel.cpp judges refusals
// after random operations.

#include "PoolTest.hpp"

#include <sys/resource.h>

using Catch::Matchers::EndsWith;

namespace {

std::string refusal(std::size_t bytes, char const* label = "x") {
  return refusal_of([&] { Pool::deallocate(PoolTest::allocate(bytes, label)); });
}

void expect_fit(std::vector<std::size_t> const& sizes) {
  Blocks blocks;
  for (std::size_t const bytes : sizes) CHECK(blocks.try_add(bytes));
}

}  // namespace

TEST_CASE("blocks that fill the limit are served, whatever was there before") {
  PoolTest const test;
  pool::set_limit(256 * MiB);
  SECTION("whatever their number of huge pages") {
    std::size_t const third = 33 * MiB + 64 * KiB;
    pool::set_limit(3 * third);
    expect_fit({third, third, third});
    pool::trim(0);
    expect_fit({20 * MiB + 4 * KiB, 3 * third - 20 * MiB - 4 * KiB});
  }
  SECTION("beside a reservation, which takes no more than was asked for") {
    std::size_t const bytes = 32 * MiB + 4 * KiB;
    pool::set_limit(64 * MiB);
    PoolTest::reserve(bytes, bytes).wait();
    expect_fit({bytes, 64 * MiB - bytes});
  }
  SECTION("beside small ones, which lock at most 4 MiB for each heap beyond what they need") {
    pool::set_limit(102 * MiB);
    Blocks blocks;
    while (PoolTest::usage().bytes_in_use < 57 * MiB) REQUIRE(blocks.try_add(256 * KiB));
    CHECK(blocks.try_add(40 * MiB));
  }
}

TEST_CASE("at the limit a segment that fits is given back, not the first one") {
  PoolTest const test;
  auto const small = GENERATE(MemoryKind::page_locked, MemoryKind::write_combined);
  bool const alike = GENERATE(true, false);
  auto const other =
      small == MemoryKind::page_locked ? MemoryKind::write_combined : MemoryKind::page_locked;
  {
    Blocks blocks;
    blocks.add(256 * MiB, alike ? small : other);
    blocks.add(64 * MiB, small);
  }
  PoolTest::make_ready();
  pool::set_limit(330 * MiB);
  // Of another node, or of the other kind: neither serves it.
  Pool::deallocate(PoolTest::allocate(40 * MiB, "x", alike ? -1 : 0, alike ? other : small));
  CHECK(PoolTest::usage().bytes_locked == (256 + 40) * MiB);
}

TEST_CASE("threads that need no more than the limit allows are never refused") {
  struct Need {
    int threads, rounds;
    std::size_t unit, most, limit;  ///< blocks of 1 to `most` units
    bool both_kinds;
  };
  auto const need = GENERATE(Need{2, 60, MiB, 24, 96 * MiB, false},      // half of it
                             Need{16, 60, MiB, 24, 768 * MiB, false},    // the same
                             Need{2, 150, 16 * MiB, 1, 32 * MiB, true},  // exactly what it allows
                             Need{8, 2000, 1000, 1, 32 * MiB, false});   // what others have left
  PoolTest const test;
  pool::set_limit(need.limit);
  Blocks others;
  while (need.unit == 1000 && PoolTest::usage().bytes_in_use < 28 * MiB) others.add(200 * KiB);
  std::atomic<int> refused{0};
  in_threads(need.threads, [&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    for (int i = 0; i < need.rounds; ++i) {
      auto const kind = need.both_kinds && random() % 2 == 0 ? MemoryKind::write_combined
                                                             : MemoryKind::page_locked;
      refused += Blocks().try_add((1 + random() % need.most) * need.unit, kind) ? 0 : 1;
    }
  });
  CHECK(refused == 0);
  CHECK(PoolTest::usage().bytes_locked <= need.limit);
}

TEST_CASE("what cannot be had at all is refused without giving the cache away") {
  PoolTest const test;
  Blocks used;
  used.add(60 * MiB);
  Pool::deallocate(PoolTest::allocate(100 * MiB));
  PoolTest::make_ready();
  std::size_t const locked = PoolTest::usage().bytes_locked;
  for (std::size_t const bytes : {SIZE_MAX, std::size_t(1) << 62, std::size_t(1) << 50})
    CHECK_FALSE(used.try_add(bytes));
  pool::set_limit(200 * MiB);
  for (std::size_t const bytes : {201 * MiB, 150 * MiB}) CHECK_FALSE(used.try_add(bytes));
  CHECK(PoolTest::usage().bytes_locked == locked);
  pool::set_limit(10 * MiB);  // below what is cached
  CHECK(pool::statistics().limit == 10 * MiB);
  CHECK(PoolTest::usage().bytes_locked == 60 * MiB);
}

TEST_CASE("memory apart from the pool counts toward its limit, and in no other sum") {
  PoolTest const test;
  pool::set_limit(64 * MiB);
  Pool::count_apart(40 * MiB, "table");
  pool::Statistics const now = pool::statistics();
  CHECK(now.bytes_node_shared == 40 * MiB);
  CHECK(now.total.bytes_locked == 0);
  CHECK(now.limit == 64 * MiB);
  CHECK_THAT(refusal(30 * MiB), ContainsSubstring("shared with the node"));
  {
    Blocks fits;
    fits.add(20 * MiB);
    CHECK_THAT(refusal_of([] { Pool::count_apart(10 * MiB, "second"); }),
               ContainsSubstring("'second'"));
  }
  Pool::count_apart(24 * MiB, "in the place of cached memory");
  Pool::end_apart(24 * MiB);
  Pool::end_apart(40 * MiB);
  CHECK(pool::statistics().bytes_node_shared == 0);
  expect_fit({60 * MiB});
}

TEST_CASE("a reservation beyond the limit ends with an exception and keeps what it has") {
  PoolTest const test;
  pool::set_limit(40 * MiB);
  pool::Reservation const reservation = PoolTest::reserve(64 * MiB, 16 * MiB);
  CHECK_THROWS_AS(reservation.wait(), OutOfPinnedMemory);
  CHECK(reservation.bytes_done() == 32 * MiB);
  CHECK(reservation.finished());
  // What no machine has.
  CHECK_THROWS_WITH(PoolTest::reserve(SIZE_MAX, 4 * MiB).wait(),
                    ContainsSubstring("reserve what will be used"));
  CHECK(PoolTest::usage().bytes_locked == 32 * MiB);
}

TEST_CASE("a refusal names the limit that refused, and only what raises it") {
  if (sanitized) SKIP("a sanitizer does not stand a limit of addresses");
  PoolTest const test;
  Pool::deallocate(PoolTest::allocate(MiB));
  pool::set_limit(16 * MiB);
  char* const in_use = PoolTest::allocate(12 * MiB);
  CHECK_THAT(refusal(32 * MiB),
             EndsWith("): ask for fewer bytes, or raise the limit of khs::pool::set_limit"));
  CHECK_THAT(refusal(8 * MiB, "the temperature"),
             ContainsSubstring("the temperature") && ContainsSubstring("TestSpace") &&
                 ContainsSubstring(std::to_string(8 * MiB)) &&
                 ContainsSubstring("in use " + std::to_string(12 * MiB)) &&
                 ContainsSubstring(std::to_string(16 * MiB)) &&
                 ContainsSubstring("RLIMIT_MEMLOCK") &&
                 EndsWith("): destroy Views that are not needed, ask for fewer bytes, "
                          "or raise the limit of khs::pool::set_limit"));
  Pool::deallocate(in_use);
  pool::set_limit(0);
  // In a control group with a limit its remedy applies, too.
  CHECK_THAT(
      refusal(std::size_t(1) << 60),
      EndsWith("): ask for fewer bytes") ||
          EndsWith("): ask for fewer bytes, or raise the memory limit of the job or container"));
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit const none{1, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &none) == 0);
  std::string const message = refusal(32 * MiB);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK_THAT(message, EndsWith("or raise ulimit -v"));
}
