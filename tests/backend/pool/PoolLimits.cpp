// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What fits under a limit is served: whatever the pool locks for later requests leaves room for others.

#include "../../support/LimitModel.hpp"
#include "PoolTest.hpp"

#include <initializer_list>

#include <catch2/generators/catch_generators_range.hpp>

#include <sys/resource.h>

using Catch::Matchers::EndsWith;

namespace {

// Blocks that are deallocated at the end, also if a test fails.
struct Blocks {
  struct Held {
    char* block;
    std::size_t bytes;
  };
  std::vector<Held> held;

  Blocks() = default;
  ~Blocks() {
    while (!held.empty()) deallocate(0);
  }
  Blocks(Blocks const&)            = delete;
  Blocks& operator=(Blocks const&) = delete;

  // False if it is refused.
  bool allocate(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked) {
    try {
      held.reserve(held.size() + 1);
      auto* const block =
          static_cast<char*>(Pool::allocate({bytes, kind, -1, "TestSpace", "limited"}));
      held.push_back({block, bytes});
      return true;
    } catch (OutOfPinnedMemory const&) {
      return false;
    }
  }

  // Returns its bytes.
  std::size_t deallocate(std::size_t i) {
    std::swap(held[i], held.back());
    Held const last = held.back();
    held.pop_back();
    Pool::deallocate(last.block);
    return last.bytes;
  }
};

// True if none of them is refused.
bool fit_together(std::initializer_list<std::size_t> sizes) {
  Blocks blocks;
  return std::all_of(sizes.begin(), sizes.end(),
                     [&](std::size_t bytes) { return blocks.allocate(bytes); });
}

}  // namespace

TEST_CASE("blocks that fill the limit are served after a smaller one") {
  PoolTest const test;
  pool::set_limit(256 * MiB);
  CHECK(fit_together({100 * MiB}));
  CHECK(fit_together({128 * MiB, 128 * MiB}));
}

TEST_CASE("blocks that fill the limit are served whatever their number of huge pages") {
  PoolTest const test;
  std::size_t const third = 33 * MiB + 64 * KiB;
  pool::set_limit(3 * third);
  CHECK(fit_together({third, third, third}));
  pool::trim(0);
  CHECK(fit_together({20 * MiB + 4 * KiB, 3 * third - 20 * MiB - 4 * KiB}));
}

TEST_CASE("a buffer that grew leaves room for a second one") {
  PoolTest const test;
  pool::set_limit(256 * MiB);
  Blocks blocks;
  for (std::size_t const mebibytes : {100, 110, 120, 128}) {
    if (!blocks.held.empty()) blocks.deallocate(0);
    CHECK(blocks.allocate(mebibytes * MiB));
  }
  CHECK(blocks.allocate(128 * MiB));
}

TEST_CASE("two users that need exactly what the limit allows are never refused") {
  PoolTest const test;
  constexpr std::size_t bytes = 16 * MiB;
  pool::set_limit(2 * bytes);
  Blocks users[2];
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    Blocks& user = users[random() % 2];
    if (!user.held.empty()) user.deallocate(0);
    auto const kind = random() % 2 == 0 ? MemoryKind::page_locked : MemoryKind::write_combined;
    REQUIRE(user.allocate(bytes, kind));
  }
}

TEST_CASE("a reservation takes no more than was asked for where there is a limit") {
  PoolTest const test;
  std::size_t const bytes = 32 * MiB + 4 * KiB;
  pool::set_limit(64 * MiB);
  Pool::reserve(bytes, MemoryKind::page_locked, -1, bytes).wait();
  CHECK(fit_together({bytes, 64 * MiB - bytes}));
}

TEST_CASE("many small blocks lock at most 4 MiB for each heap beyond what they need") {
  PoolTest const test;
  pool::set_limit(102 * MiB);
  Blocks blocks;
  while (PoolTest::usage().bytes_in_use < 57 * MiB) REQUIRE(blocks.allocate(256 * KiB));
  CHECK(blocks.allocate(40 * MiB));
}

TEST_CASE("a refusal names the limit that refused, and only what raises it") {
  if (sanitized) SKIP("a sanitizer does not stand a limit of addresses");
  PoolTest const test;
  auto const refusal = [](std::size_t bytes) {
    try {
      Pool::deallocate(PoolTest::allocate(bytes));
    } catch (OutOfPinnedMemory const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Pool::deallocate(PoolTest::allocate(MiB));
  pool::set_limit(16 * MiB);
  void* const in_use = PoolTest::allocate(12 * MiB);
  CHECK_THAT(refusal(32 * MiB),
             EndsWith("): ask for fewer bytes, or raise the limit of khs::pool::set_limit"));
  CHECK_THAT(refusal(8 * MiB),
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

TEST_CASE("under a limit nothing is refused that must be served") {
  PoolTest const test;
  unsigned const seed = GENERATE(range(0U, 24U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  LimitModel model(2);
  Blocks blocks;
  std::size_t const largest = (seed % 3 + 1) * 6 * MiB;
  std::size_t limit         = 0;
  for (int i = 0; i < 120; ++i) {
    auto const what = random() % 16;
    if (what == 0 || i == 0) {
      pool::set_limit(limit = random() % 4 == 0 && i > 0 ? 0 : 16 * MiB + random() % (5 * largest));
      model.set_limit(limit);
    } else if (what == 1) {
      pool::trim(0);
      model.trimmed();
    } else if (what < 7 && !blocks.held.empty()) {
      do {
        model.deallocated(blocks.deallocate(random() % blocks.held.size()));
      } while (what == 2 && !blocks.held.empty());
    } else {
      std::size_t const bytes = 1 + random() % (random() % 3 == 0 ? 64 * KiB : largest);
      auto const kind = random() % 3 == 0 ? MemoryKind::write_combined : MemoryKind::page_locked;
      bool const must_serve = model.must_serve(bytes);
      auto const before     = PoolTest::usage();
      CAPTURE(i, bytes, limit, before.bytes_in_use, before.bytes_locked);
      if (blocks.allocate(bytes, kind)) {
        model.allocated(bytes);
        continue;
      }
      REQUIRE_FALSE(must_serve);
      // What is refused does not fit if all is given back that is not in use.
      pool::trim(0);
      model.trimmed();
      REQUIRE(PoolTest::usage().bytes_locked + LimitModel::rounded(bytes) > limit);
      REQUIRE_FALSE(blocks.allocate(bytes, kind));
    }
  }
}
