// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Arena.hpp"

#include "../os/Pages.hpp"
#include "Policy.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

bool is_whole_segment(Block const& block) noexcept {
  return block.before == nullptr && block.after == nullptr;
}

bool is_ready(Block const* block) noexcept {
  return block != nullptr && block->state.load(std::memory_order_relaxed) == BlockState::ready;
}

// Bytes to skip at the front of a block, so that a request does not cross the end of a window. Memory
// of the driver has no windows.
std::size_t lead_of(Block const& block, std::size_t bytes) noexcept {
  Region const& region = block.segment->region;
  bool const is_long   = region.bytes > page_window && region.origin != Origin::driver;
  if (!is_long || bytes > page_window) return 0;
  std::size_t const left =
      page_window - reinterpret_cast<std::uintptr_t>(block.address) % page_window;
  return left < bytes ? left : 0;
}

}  // namespace

SizeTree& Arena::tree_of(Block const& block) noexcept {
  return m_trees[(block.segment->reserved ? reserved : 0) +
                 (is_whole_segment(block) ? whole_segment : 0)];
}

// The sum changes under the heap's mutex only, and once in each step; it is read without.
void Arena::count(std::size_t difference) noexcept {
  m_ready.store(m_ready.load(std::memory_order_relaxed) + difference, std::memory_order_relaxed);
}

void Arena::enter(Block& block) noexcept {
  block.state.store(BlockState::ready, std::memory_order_relaxed);
  block.node.key() = {block.bytes, block.address};
  block.place      = tree_of(block).insert(std::move(block.node)).position;
}

void Arena::leave(Block& block) noexcept { block.node = tree_of(block).extract(block.place); }

// Skips few blocks: only one that contains the end of a window can be too short behind its lead.
Block* Arena::best_fit(std::size_t bytes, std::size_t largest) const noexcept {
  Block* best = nullptr;
  for (std::size_t i = 0; i < m_trees.size(); ++i) {
    SizeTree const& tree = m_trees[i];
    //~ failure 24a
    auto fits = tree.lower_bound({bytes, nullptr});
    while (fits != tree.end() && fits->first.first - lead_of(*fits->second, bytes) < bytes) ++fits;
    if (fits == tree.end() || (fits->first.first > largest && (i & reserved) == 0)) continue;
    if (best == nullptr || fits->first.first < best->bytes) best = fits->second;
  }
  return best;
}

Block& Arena::cut(Block& block, std::size_t bytes) {
  Block& tail = new_record();
  leave(block);
  tail.address = block.address + bytes;
  tail.bytes   = block.bytes - bytes;
  tail.dirty   = block.dirty > bytes ? block.dirty - bytes : 0;
  tail.segment = block.segment;
  tail.before  = &block;
  tail.after   = block.after;
  if (tail.after != nullptr) tail.after->before = &tail;
  block.after = &tail;
  block.bytes = bytes;
  m_pages.assign(tail.address, page_bytes, &tail);
  block.dirty = std::min(block.dirty, bytes);
  enter(tail);
  return tail;
}

Block* Arena::take(std::size_t bytes, std::size_t largest) {
  bytes        = rounded(bytes);
  Block* block = best_fit(bytes, largest);
  if (block == nullptr) return nullptr;
  if (std::size_t const lead = lead_of(*block, bytes); lead > 0) {
    Block& front = *block;
    block        = &cut(front, lead);
    enter(front);
  }
  // A rest that would hardly serve a request stays with the block.
  if (block->bytes - bytes >= std::clamp(bytes / pool_policy.kept_rest_divisor, page_bytes,
                                         pool_policy.largest_kept_rest)) {
    cut(*block, bytes);
  } else {
    leave(*block);
  }
  count(0 - block->bytes);
  block->epoch.store(BlockHeader::never, std::memory_order_relaxed);
  block->state.store(BlockState::in_use, std::memory_order_relaxed);
  return block;
}

void Arena::absorb_next(Block& block) noexcept {
  Block& next = *block.after;
  m_pages.assign(next.address, page_bytes, nullptr);
  if (next.dirty > 0) block.dirty = block.bytes + next.dirty;
  block.bytes += next.bytes;
  block.after = next.after;
  if (block.after != nullptr) block.after->before = &block;
  drop_record(next);
}

void Arena::put(Block& block) noexcept {
  count(block.bytes);
  block.dirty = block.bytes;
  //~ failure 24b
  if (is_ready(block.after)) {
    leave(*block.after);
    absorb_next(block);
  }
  Block* merged = &block;
  if (is_ready(block.before)) {
    merged = block.before;
    leave(*merged);
    absorb_next(*merged);
  }
  enter(*merged);
}

void Arena::add(Segment& segment) {
  Block& block  = new_record();
  block.address = static_cast<char*>(segment.region.pointer);
  block.bytes   = segment.region.bytes;
  block.dirty   = segment.region.is_zero_filled() ? 0 : block.bytes;
  block.segment = &segment;
  segment.first = &block;
  m_pages.assign(block.address, page_bytes, &block);
  enter(block);
  count(block.bytes);
}

Segment* Arena::unused_segment(Surplus surplus) const noexcept {
  Block* fits    = nullptr;
  Block* largest = nullptr;
  for (std::size_t i : {std::size_t(whole_segment), std::size_t(whole_segment | reserved)}) {
    if ((i & reserved) != 0 && !surplus.reserved_too) break;
    auto const end   = m_trees[i].lower_bound({surplus.below, nullptr});
    auto const first = m_trees[i].lower_bound({std::min(surplus.bytes, surplus.below), nullptr});
    if (first != end && (fits == nullptr || first->first.first < fits->bytes)) fits = first->second;
    if (end == m_trees[i].begin()) continue;
    Block* const lesser = std::prev(end)->second;
    if (largest == nullptr || lesser->bytes > largest->bytes) largest = lesser;
  }
  Block* const best = fits != nullptr ? fits : largest;
  return best != nullptr ? best->segment : nullptr;
}

void Arena::remove(Segment& segment) noexcept {
  leave(*segment.first);
  m_pages.assign(segment.first->address, page_bytes, nullptr);
  count(0 - segment.first->bytes);
  drop_record(*segment.first);
  segment.first = nullptr;
}

Block& Arena::new_record() {
  if (m_spare == nullptr) {
    constexpr std::size_t count = 64;
    m_records.push_back(std::make_unique<Block[]>(count));
    for (std::size_t i = 0; i < count; ++i) {
      Block& block = m_records.back()[i];
      block.node   = SizeTree{{{}, &block}}.extract(std::pair<std::size_t, char*>());
      drop_record(block);
    }
  }
  Block& block = *m_spare;
  m_spare      = block.after;
  block.after  = nullptr;
  return block;
}

void Arena::drop_record(Block& block) noexcept {
  block.state.store(BlockState::ready, std::memory_order_relaxed);
  block.address = nullptr;
  block.before  = nullptr;
  block.slab    = nullptr;
  block.after   = m_spare;
  m_spare       = &block;
}

}  // namespace KokkosHostSpaces::Impl::Backend
