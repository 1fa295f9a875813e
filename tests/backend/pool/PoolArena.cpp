// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/pool/Arena.hpp"
#include "../../../backend/pool/Slabs.hpp"
#include "../BackendTest.hpp"

#include <list>

namespace {

constexpr std::size_t page     = Arena::page_bytes;
constexpr std::size_t any_size = ~std::size_t(0);

// An arena over addresses that are never touched.
struct TestArena {
  PageMap pages;  // which is never destroyed
  Arena arena{pages};
  std::list<Segment> segments;

  Segment& add(std::size_t bytes, bool reserved = false) {
    static char* next = nullptr;
    next += 1 << 30;
    Segment segment;
    segment.region.pointer = next;
    segment.region.bytes   = bytes;
    segment.reserved       = reserved;
    segments.push_back(segment);
    add(segments.back());
    return segments.back();
  }
  void add(Segment& segment) {
    pages.cover(segment.region.pointer, segment.region.bytes);
    arena.add(segment);
  }
};

}  // namespace

namespace {

void* const across_windows = reinterpret_cast<void*>(std::uintptr_t(7 * page_window + 30 * GiB));

// Whether that many bytes at its front do.
bool spans_windows(Block const& block, std::size_t bytes) {
  auto const begin = reinterpret_cast<std::uintptr_t>(block.address);
  return begin / page_window != (begin + bytes - 1) / page_window;
}

}  // namespace

TEST_CASE("no piece of a segment longer than a window lies in two, though it fits into one") {
  TestArena test;
  std::mt19937_64 random(13);
  Segment& segment = test.add(300 * GiB);
  for (int round = 0; round < 20; ++round) {
    std::vector<Block*> blocks;
    for (int i = 0; i < 30; ++i) {
      std::size_t const bytes = random() % (random() % page_window + 1) + 1;
      Block* const block      = test.arena.take(bytes, any_size);
      if (block == nullptr) continue;
      CHECK_FALSE(spans_windows(*block, bytes));
      blocks.push_back(block);
    }
    CHECK(blocks.size() > 4);
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (Block* const block : blocks) test.arena.put(*block);
    REQUIRE(Arena::unused(segment));
  }
  Block* const whole = test.arena.take(300 * GiB, any_size);
  REQUIRE(whole != nullptr);
  test.arena.put(*whole);
}

TEST_CASE("a segment that the system or the driver gave across windows is used as it is") {
  TestArena test;
  Segment system, driver;
  system.region = {across_windows, page_window};
  driver.region = {across_windows, 2 * page_window, Origin::driver};
  for (Segment* const segment : {&system, &driver}) {
    test.add(*segment);
    Block const* const block = test.arena.take(page_window, any_size);
    REQUIRE(block != nullptr);
    CHECK(block->segment == segment);
    CHECK(spans_windows(*block, page_window));
  }
}

TEST_CASE("of two blocks of one size, the one that does not lie across windows is taken") {
  TestArena test;
  Segment near;
  near.region = {reinterpret_cast<void*>(std::uintptr_t(7 * page_window + 58 * GiB)),
                 page_window + 9 * GiB};
  test.add(near);
  test.arena.take(page_window + GiB, any_size);  // leaves 8 GiB with the end of a window in them
  Segment const& far       = test.add(8 * GiB);
  Block const* const block = test.arena.take(8 * GiB, any_size);
  REQUIRE(block != nullptr);
  CHECK(block->segment == &far);
}

namespace {

constexpr std::size_t all = 1000000;

void retire(Slabs& slabs, SlabSlot& slot, Epoch epoch) {
  slot.epoch = epoch;
  slot.state = BlockState::retired;
  slabs.put(slot);
}

}  // namespace

TEST_CASE(
    "failure 4: a slab is whole again when all its slots are back and their epochs are over") {
  TestArena test;
  test.add(1024 * page);
  Slabs slabs(test.arena, test.pages);
  Block* const kept  = test.arena.take(Slabs::span_bytes(1000), any_size);
  Block* const other = test.arena.take(Slabs::span_bytes(1000), any_size);
  std::vector<SlabSlot*> slots;
  for (Block* const span : {kept, other}) {
    slabs.cut(*span, 1000);
    while (SlabSlot* const slot = slabs.take(1000)) slots.push_back(slot);
  }
  REQUIRE(slots.size() == 2 * 64);
  CHECK(slots[1]->slab->address_of(*slots[1]) == kept->address + 1024);
  CHECK(slabs.ready_bytes() == 0);
  auto const is_whole = [](Block const* block) { return block->slab == nullptr; };
  for (std::size_t i = 0; i < slots.size(); ++i) retire(slabs, *slots[i], i < 127 ? 5 : 6);
  CHECK(slabs.collect(1000, 4, all) == 0);
  CHECK(slabs.collect(1000, 5, all) == 127);
  CHECK_FALSE((is_whole(kept) || is_whole(other)));  // one is kept
  CHECK(slabs.collect_all(6, all) == 1);
  CHECK((is_whole(other) && !is_whole(kept)));
  CHECK(slabs.ready_bytes() == kept->bytes);
  slabs.give_up_kept();
  CHECK(test.arena.ready_bytes() == 1024 * page);
  CHECK(slabs.ready_bytes() == 0);
  CHECK(slabs.take(1000) == nullptr);
}
