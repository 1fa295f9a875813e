// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a heap tells about itself.

#include "Heap.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Impl {

void Heap::count(Pool::Usage& usage, std::vector<Pool::SpaceUsage>& spaces) const {
  std::size_t in_use = 0;
  for (SpaceCount const& mine : m_spaces) {
    auto space = std::find_if(spaces.begin(), spaces.end(), [&](Pool::SpaceUsage const& known) {
      return known.space == mine.name;
    });
    if (space == spaces.end()) space = spaces.insert(space, Pool::SpaceUsage{mine.name});
    space->bytes_in_use += mine.bytes_in_use;
    space->bytes_asked += mine.bytes_asked;
    space->blocks += mine.blocks;
    space->allocations += mine.allocations;
    in_use += mine.bytes_in_use;
    usage.bytes_asked += mine.bytes_asked;
  }

  std::size_t retired   = 0;
  Epoch const completed = m_shared.retirement.completed();
  auto const add        = [&](Block const& block) {
    if (block.epoch > completed) retired += block.bytes;
  };
  for (Block const* block = m_retired.front(); block != nullptr; block = block->next) add(*block);
  m_slabs.for_each_idle(add);

  std::size_t locked = 0;
  for (Segment const& segment : m_segments) locked += segment.region.bytes;

  usage.bytes_locked += locked;
  usage.bytes_in_use += in_use;
  usage.bytes_retired += retired;
  usage.bytes_cached += locked - in_use - retired;
  usage.segments += m_segments.size();
  usage.misses += m_misses;
  usage.hits += m_allocations - std::min(m_allocations, m_misses);
}

std::optional<Pool::Description> Heap::describe(void const* pointer) const {
  auto const* const address = static_cast<char const*>(pointer);
  auto const holds          = [&](Segment const& segment) {
    auto const* const begin = static_cast<char const*>(segment.region.pointer);
    return address >= begin && address < begin + segment.region.bytes;
  };
  auto const segment = std::find_if(m_segments.begin(), m_segments.end(), holds);
  if (segment == m_segments.end()) return std::nullopt;

  Block const* block = segment->first;
  while (address >= block->address + block->bytes) block = block->after;
  if (block->state == BlockState::sliced) {
    Block const* const slice = block->slab->slice_at(pointer);
    if (slice != nullptr) block = slice;
  }

  bool const in_use = block->state == BlockState::in_use;
  bool const retired =
      block->state == BlockState::retired && block->epoch > m_shared.retirement.completed();
  Pool::Description description{
      "", "", block->bytes, segment->region.numa_node, segment->region.kind, Pool::State::cached};
  if (in_use || retired) {
    description.label = block->label.data();
    description.space = m_spaces[block->space].name;
    description.bytes = block->asked;
    description.state = in_use ? Pool::State::in_use : Pool::State::retired;
  }
  return description;
}

}  // namespace KokkosHostSpaces::Impl
