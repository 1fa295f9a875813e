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

TEST_CASE(
    "an arena keeps a small rest with the block, and leaves large blocks whole but reserved ones") {
  TestArena test;
  test.add(33 * page);
  CHECK(test.arena.take(32 * page, any_size)->bytes == 33 * page);
  test.add(1000 * page);
  CHECK(test.arena.take(page, 999 * page) == nullptr);
  Segment const& reserved  = test.add(2000 * page, true);
  Block const* const block = test.arena.take(page, 999 * page);
  REQUIRE(block != nullptr);
  CHECK(block->segment == &reserved);
}

TEST_CASE(
    "an arena's blocks neither overlap nor leave gaps, and what it calls zero was never handed out") {
  constexpr std::size_t pages = 4096;
  TestArena test;
  Segment& segment = test.add(pages * page);
  std::vector<bool> was_out(pages, false);
  std::mt19937 random(11);
  std::vector<Block*> blocks;
  std::size_t zeros = 0, spoilt = 0;
  for (int i = 0; i < 10000; ++i) {
    if (!blocks.empty() && random() % 5 >= 3) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      test.arena.put(*blocks.back());
      blocks.pop_back();
      continue;
    }
    std::size_t const bytes = random() % (100 * page) + 1;
    Block* const block      = test.arena.take(bytes, any_size);
    if (block == nullptr) continue;
    REQUIRE(block->bytes >= bytes);
    REQUIRE(block->bytes <= Arena::rounded(bytes) + Arena::rounded(bytes) / 16 + page);
    REQUIRE(block->dirty <= block->bytes);
    auto const begin =
        was_out.begin() + (block->address - segment.first->address) / std::ptrdiff_t(page);
    auto const end = begin + std::ptrdiff_t(block->bytes / page);
    spoilt += std::size_t(std::count(begin + std::ptrdiff_t(block->dirty / page), end, true));
    zeros += block->bytes - block->dirty;
    std::fill(begin, end, true);
    blocks.push_back(block);
  }
  CHECK(spoilt == 0);
  CHECK(zeros >= pages / 2 * page);  // what is merged with blocks that came back is not forgotten
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
  for (Block* const block : blocks) test.arena.put(*block);
  REQUIRE(Arena::unused(segment));
  CHECK(segment.first->bytes == pages * page);
  test.arena.remove(segment);
  CHECK(test.arena.take(page, any_size) == nullptr);
}

TEST_CASE("among thousands of blocks the best fit is found") {
  TestArena test;
  std::mt19937 random(3);
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 2000; ++i) {
    sizes.push_back((1 + random() % 5000) * page);
    test.add(sizes.back());
  }
  std::sort(sizes.begin(), sizes.end());
  for (int i = 0; i < 1000; ++i) {
    std::size_t const wanted = (1 + random() % 5000) * page;
    auto const best          = std::lower_bound(sizes.begin(), sizes.end(), wanted);
    Block const* const block = test.arena.take(wanted, any_size);
    REQUIRE((block != nullptr) == (best != sizes.end()));
    if (block == nullptr) continue;
    Segment const& segment = *block->segment;
    REQUIRE(segment.region.bytes >= *best);
    std::size_t const rest = *best - block->bytes;
    sizes.erase(best);
    if (rest > 0) sizes.insert(std::lower_bound(sizes.begin(), sizes.end(), rest), rest);
  }
}

TEST_CASE("an arena knows how much is ready, and which unused segment fits best") {
  TestArena test;
  Segment& plain    = test.add(100 * page);
  Segment& reserved = test.add(200 * page, true);
  CHECK(test.arena.ready_bytes() == 300 * page);
  Block* const block = test.arena.take(50 * page, any_size);
  CHECK(block->segment == &plain);
  CHECK(test.arena.ready_bytes() == 250 * page);
  CHECK(test.arena.unused_segment({page, false}) == nullptr);
  CHECK(test.arena.unused_segment({page, true}) == &reserved);
  test.arena.put(*block);
  CHECK(test.arena.unused_segment({page, true}) == &plain);
  CHECK(test.arena.unused_segment({150 * page, true}) == &reserved);
  CHECK(test.arena.unused_segment({500 * page, true}) == &reserved);
  CHECK(test.arena.unused_segment({500 * page, true, 200 * page}) == &plain);
  test.arena.remove(plain);
  test.arena.remove(reserved);
  CHECK(test.arena.ready_bytes() == 0);
}

TEST_CASE("in an arena zeros outlive a used neighbour, and a segment of the driver has none") {
  TestArena test;
  test.add(100 * page);
  Block* const front = test.arena.take(10 * page, any_size);
  CHECK(front->dirty == 0);
  test.arena.put(*front);
  Block* const whole = test.arena.take(100 * page, any_size);
  REQUIRE(whole != nullptr);
  CHECK(whole->dirty == 10 * page);
  test.arena.put(*whole);
  Block* const again = test.arena.take(50 * page, any_size);
  CHECK(again->dirty == 50 * page);
  Block* const rest = test.arena.take(50 * page, any_size);
  CHECK(rest->dirty == 50 * page);

  Segment driver;
  driver.region = {again->address, 10 * page, Origin::driver};
  test.arena.add(driver);
  CHECK(test.arena.take(10 * page, any_size)->dirty == 10 * page);
}

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

TEST_CASE("where the best fit lies in two windows, the next one is taken") {
  TestArena test;
  Segment near;  // with room for 34 GiB, and for 40 GiB
  near.region = {across_windows, page_window + 10 * GiB};
  test.add(near);
  Segment const& far       = test.add(4 * page_window);
  Block const* const block = test.arena.take(page_window - GiB, any_size);
  REQUIRE(block != nullptr);
  CHECK(block->segment == &far);
  CHECK_FALSE(spans_windows(*block, page_window - GiB));
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

TEST_CASE("slots are multiples of 256 bytes and at most a sixteenth and 255 bytes too large") {
  std::size_t first_bad = 0;
  for (std::size_t bytes = 1; bytes <= Slabs::largest && first_bad == 0; ++bytes) {
    std::size_t const slot = Slabs::slot_bytes(bytes);
    bool const good        = slot >= bytes && slot % 256 == 0 && slot <= bytes + bytes / 16 + 255 &&
                      Slabs::span_bytes(bytes) >= 8 * slot;
    if (!good) first_bad = bytes;
  }
  CHECK(first_bad == 0);
}

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

TEST_CASE("slots wait in the order in which they were given back, a few are made ready at a time") {
  TestArena test;
  test.add(1024 * page);
  Slabs slabs(test.arena, test.pages);
  slabs.cut(*test.arena.take(Slabs::span_bytes(32 * 1024), any_size), 32 * 1024);
  std::vector<SlabSlot*> slots;
  while (SlabSlot* const slot = slabs.take(32 * 1024)) slots.push_back(slot);
  REQUIRE(slots.size() == 8);
  for (std::size_t i = 0; i < 7; ++i) retire(slabs, *slots[i], i + 1);
  CHECK(slabs.oldest(32 * 1024) == slots[0]);
  CHECK_FALSE(slabs.many_wait(32 * 1024));
  CHECK(slabs.collect(32 * 1024, 0, all) == 0);
  CHECK(slabs.take(32 * 1024) == nullptr);
  CHECK(slabs.collect(32 * 1024, 7, 2) == 2);
  CHECK(slabs.oldest(32 * 1024) == slots[2]);
  CHECK(slabs.take(32 * 1024) == slots[1]);
  CHECK(slabs.take(32 * 1024) == slots[0]);
  CHECK(slabs.take(32 * 1024) == nullptr);
}
