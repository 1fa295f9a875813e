// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/pool/Arena.hpp"
#include "../../backend/pool/Slabs.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces::Impl;

namespace {

constexpr std::size_t page     = Arena::page_bytes;
constexpr std::size_t any_size = ~std::size_t(0);

// An arena over addresses which nobody touches.
struct TestArena {
  Arena arena;
  std::list<Segment> segments;

  Segment& add(std::size_t bytes, bool reserved = false) {
    static char* next = nullptr;
    next += 1 << 30;
    Segment segment;
    segment.region.pointer = next;
    segment.region.bytes   = bytes;
    segment.reserved       = reserved;
    segments.push_back(segment);
    arena.add(segments.back());
    return segments.back();
  }
};

}  // namespace

TEST_CASE("an arena cuts the smallest block that fits") {
  TestArena test;
  Segment const& large = test.add(1000 * page);
  Segment const& fits  = test.add(50 * page);
  Block* const block   = test.arena.take(50 * page, any_size);
  REQUIRE(block != nullptr);
  CHECK(block->segment == &fits);
  Block* const other = test.arena.take(50 * page - 1, any_size);
  REQUIRE(other != nullptr);
  CHECK(other->segment == &large);
  CHECK(other->bytes == 50 * page);
  CHECK(test.arena.take(951 * page, any_size) == nullptr);
}

TEST_CASE("an arena keeps a small rest with the block") {
  TestArena test;
  test.add(33 * page);
  Block const* const block = test.arena.take(32 * page, any_size);
  REQUIRE(block != nullptr);
  CHECK(block->bytes == 33 * page);
}

TEST_CASE("an arena leaves large blocks whole, except reserved ones") {
  TestArena test;
  test.add(1000 * page);
  CHECK(test.arena.take(page, 999 * page) == nullptr);
  Segment const& reserved  = test.add(2000 * page, true);
  Block const* const block = test.arena.take(page, 999 * page);
  REQUIRE(block != nullptr);
  CHECK(block->segment == &reserved);
}

TEST_CASE("an arena merges what comes back, in any order") {
  TestArena test;
  Segment& segment = test.add(512 * page);
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Block*> blocks;
    while (Block* const block = test.arena.take((1 + random() % 40) * page, any_size))
      blocks.push_back(block);
    std::shuffle(blocks.begin(), blocks.end(), random);
    CHECK_FALSE(Arena::unused(segment));
    for (Block* const block : blocks) test.arena.put(*block);
    REQUIRE(Arena::unused(segment));
    REQUIRE(segment.first->bytes == 512 * page);
  }
  test.arena.remove(segment);
  CHECK(test.arena.take(page, any_size) == nullptr);
}

TEST_CASE("the blocks of an arena neither overlap nor leave gaps") {
  TestArena test;
  Segment const& segment = test.add(4096 * page);
  std::mt19937 random(11);
  std::vector<Block*> blocks;
  for (int i = 0; i < 5000; ++i) {
    if (blocks.empty() || random() % 5 < 3) {
      std::size_t const bytes = random() % (100 * page) + 1;
      Block* const block      = test.arena.take(bytes, any_size);
      if (block == nullptr) continue;
      REQUIRE(block->bytes >= bytes);
      REQUIRE(block->bytes <= Arena::whole_pages(bytes) + Arena::whole_pages(bytes) / 16 + page);
      blocks.push_back(block);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      test.arena.put(*blocks.back());
      blocks.pop_back();
    }
  }
  std::size_t covered = 0;
  bool was_ready      = false;
  for (Block const* block = segment.first; block != nullptr; block = block->after) {
    REQUIRE(block->address == static_cast<char*>(segment.region.pointer) + covered);
    bool const ready = block->state == BlockState::ready;
    REQUIRE_FALSE((ready && was_ready));
    was_ready = ready;
    covered += block->bytes;
  }
  CHECK(covered == segment.region.bytes);
}

TEST_CASE("slices are multiples of 256 bytes and at most a sixteenth and 255 bytes too large") {
  std::size_t first_bad = 0;
  for (std::size_t bytes = 1; bytes <= Slabs::largest && first_bad == 0; ++bytes) {
    std::size_t const slice = Slabs::slice_bytes(bytes);
    bool const good = slice >= bytes && slice % 256 == 0 && slice <= bytes + bytes / 16 + 255 &&
                      Slabs::span_bytes(bytes) >= 8 * slice;
    if (!good) first_bad = bytes;
  }
  CHECK(first_bad == 0);
}

TEST_CASE("a slab is whole again when all its slices are back and their epochs are over") {
  TestArena test;
  test.add(1024 * page);
  Slabs slabs;
  Block* const span = test.arena.take(Slabs::span_bytes(1000), any_size);
  slabs.cut(*span, 1000);
  Block* const first  = slabs.take(1000, 0);
  Block* const second = slabs.take(1000, 0);
  CHECK(second->address == first->address + 1024);
  Block const* whole   = nullptr;
  auto const take_back = [&](Block& block) { whole = &block; };
  first->epoch         = 5;
  slabs.put(*first);
  slabs.dissolve(5, take_back);
  CHECK(whole == nullptr);
  second->epoch = 6;
  slabs.put(*second);
  slabs.dissolve(5, take_back);
  CHECK(whole == nullptr);
  slabs.dissolve(6, take_back);
  CHECK(whole == span);
  CHECK(slabs.take(1000, 6) == nullptr);
}

TEST_CASE("the slice that was given back first is used first") {
  TestArena test;
  test.add(1024 * page);
  Slabs slabs;
  slabs.cut(*test.arena.take(Slabs::span_bytes(32 * 1024), any_size), 32 * 1024);
  std::vector<Block*> slices;
  while (Block* const slice = slabs.take(32 * 1024, 0)) slices.push_back(slice);
  REQUIRE(slices.size() == 8);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    slices[i]->epoch = i + 1;
    slabs.put(*slices[i]);
  }
  CHECK(slabs.take(32 * 1024, 0) == nullptr);
  CHECK(slabs.take(32 * 1024, 1) == slices[0]);
  CHECK(slabs.take(32 * 1024, 1) == nullptr);
}
