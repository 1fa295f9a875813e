// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/pool/Slabs.hpp"
#include "TestArena.hpp"

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
  Slabs slabs;
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
  std::vector<Block*> whole;
  auto const take_back = [&](Block& block) { whole.push_back(&block); };
  for (std::size_t i = 0; i < slots.size(); ++i) retire(slabs, *slots[i], i < 127 ? 5 : 6);
  CHECK(slabs.collect(1000, 4, all, take_back) == 0);
  CHECK(slabs.collect(1000, 5, all, take_back) == 127);
  CHECK(whole.empty());  // one is kept
  CHECK(slabs.collect_all(6, all, take_back) == 1);
  CHECK(whole == std::vector<Block*>{other});
  CHECK(slabs.ready_bytes() == kept->bytes);
  CHECK(slabs.give_up_kept(take_back));
  CHECK(whole == std::vector<Block*>{other, kept});
  CHECK(slabs.ready_bytes() == 0);
  CHECK(slabs.take(1000) == nullptr);
}

TEST_CASE("slots wait in the order in which they were given back, a few are made ready at a time") {
  TestArena test;
  test.add(1024 * page);
  Slabs slabs;
  slabs.cut(*test.arena.take(Slabs::span_bytes(32 * 1024), any_size), 32 * 1024);
  std::vector<SlabSlot*> slots;
  while (SlabSlot* const slot = slabs.take(32 * 1024)) slots.push_back(slot);
  REQUIRE(slots.size() == 8);
  auto const nothing_whole = [](Block&) { CHECK(false); };
  for (std::size_t i = 0; i < 7; ++i) retire(slabs, *slots[i], i + 1);
  CHECK(slabs.oldest(32 * 1024) == slots[0]);
  CHECK_FALSE(slabs.many_wait(32 * 1024));
  CHECK(slabs.collect(32 * 1024, 0, all, nothing_whole) == 0);
  CHECK(slabs.take(32 * 1024) == nullptr);
  CHECK(slabs.collect(32 * 1024, 7, 2, nothing_whole) == 2);
  CHECK(slabs.oldest(32 * 1024) == slots[2]);
  CHECK(slabs.take(32 * 1024) == slots[1]);
  CHECK(slabs.take(32 * 1024) == slots[0]);
  CHECK(slabs.take(32 * 1024) == nullptr);
}
