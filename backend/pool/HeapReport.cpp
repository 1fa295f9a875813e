// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a heap tells about itself.

#include "Heap.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Impl::Backend {

void Heap::count(pool::Usage& usage, std::vector<pool::SpaceUsage>& spaces) const {
  for (SpaceCount const& mine : m_spaces) {
    if (mine.name == nullptr) continue;
    auto space = std::find_if(spaces.begin(), spaces.end(), [&](pool::SpaceUsage const& known) {
      return known.space == mine.name;
    });
    if (space == spaces.end()) space = spaces.insert(space, pool::SpaceUsage{mine.name});
    std::size_t const asked = mine.asked.in_use();
    space->bytes_in_use += mine.bytes.in_use();
    space->bytes_asked += asked;
    space->blocks += mine.blocks.in_use();
    space->allocations += mine.blocks.taken();
    usage.bytes_asked += asked;
  }
  std::size_t const locked = locked_bytes();
  std::size_t const in_use = in_use_bytes();
  std::size_t const ready  = ready_bytes();
  usage.bytes_locked += locked;
  usage.bytes_in_use += in_use;
  usage.bytes_cached += ready;
  usage.bytes_retired += locked - in_use - ready;
  usage.segments += m_segments.size();
  usage.misses += m_misses;
  usage.hits += m_allocations - std::min(m_allocations, m_misses);
}

Block* Heap::block_at(void const* pointer) const noexcept {
  auto const* const address = static_cast<char const*>(pointer);
  auto after                = m_segments.upper_bound(address);
  if (after == m_segments.begin()) return nullptr;
  Segment const& segment = std::prev(after)->second;
  if (address >= std::prev(after)->first + segment.region.bytes) return nullptr;
  Block* block = segment.first;
  while (address >= block->address + block->bytes) block = block->after;
  return block;
}

std::optional<Pool::Extent> Heap::extent_of(void const* pointer) const {
  Block const* const block = block_at(pointer);
  if (block == nullptr) return std::nullopt;
  BlockState const state = block->state.load(std::memory_order_acquire);
  if (state != BlockState::in_use && state != BlockState::kept) return std::nullopt;
  Region const& region = block->segment->region;
  return Pool::Extent{block->address,   block->asked,
                      block->bytes,     region.origin != Origin::driver,
                      region.numa_node, m_spaces[block->space].name};
}

std::optional<pool::Description> Heap::describe(void const* pointer) const {
  Block const* const block = block_at(pointer);
  if (block == nullptr) return std::nullopt;
  BlockHeader const* piece = block;
  Label const* label       = &block->label;
  std::size_t bytes        = block->bytes;
  std::size_t asked        = block->asked;
  if (block->state == BlockState::sliced) {
    if (SlabSlot const* const slice = block->slab->slice_at(pointer)) {
      piece = slice;
      label = &block->slab->label_of(*slice);
      bytes = block->slab->slice_bytes;
      asked = slice->slice_asked;
    }
  }

  Region const& region   = block->segment->region;
  Epoch const completed  = m_shared.retirement.completed();
  BlockState const state = piece->state.load(std::memory_order_acquire);
  bool const in_use      = state == BlockState::in_use || state == BlockState::kept;
  bool const retired     = state == BlockState::retired && piece->epoch > completed;
  pool::Description description{"", "", bytes, region.numa_node, region.kind, pool::State::cached};
  if (in_use || retired) {
    description.label = label->data();
    description.space = m_spaces[piece->space].name;
    description.bytes = asked;
    description.state = in_use ? pool::State::in_use : pool::State::retired;
  }
  return description;
}

}  // namespace KokkosHostSpaces::Impl::Backend
