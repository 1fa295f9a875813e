// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Heap.hpp"

#include "../Config.hpp"
#include "../os/Pages.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
constexpr std::size_t few        = pool_policy.few_blocks;

// The guard protects whole pages, so that no two blocks may share one.
bool is_small(std::size_t bytes) { return bytes <= Slabs::largest && !config().guard; }

// Bytes of the block, or of the block cut into slots, that serves a request.
std::size_t span_for(std::size_t bytes) {
  if (is_small(bytes)) return Slabs::span_bytes(bytes);
  return config().guard ? whole_pages(bytes) : Arena::rounded(bytes);
}

void copy_label(Label& to, char const* label) {
  std::size_t length = ::strnlen(label, to.size() - 1);
  // Cut before a character of UTF-8, not within it: its other bytes begin with 10.
  if (length == to.size() - 1)
    for (int back = 0; back < 3 && (label[length] & 0xc0) == 0x80; ++back) --length;
  std::memcpy(to.data(), label, length);
  to[length] = '\0';
}

}  // namespace

void* Heap::take(Pool::Request const& request, Effort effort) {
  receive(few);
  Piece piece;
  if (is_small(request.bytes)) {
    SlabSlot* const slot = take_slot(request.bytes, effort);
    if (slot == nullptr) return nullptr;
    slot->slot_asked = static_cast<std::uint32_t>(request.bytes);
    piece            = piece_of(*slot);
  } else {
    Block* const block = take_span(span_for(request.bytes), effort);
    if (block == nullptr) return nullptr;
    block->asked = request.bytes;
    piece        = piece_of(*block);
  }
  copy_label(*piece.label, request.label);
  piece.header->space = space_number(request.space);
  SpaceCount& count   = m_spaces[piece.header->space];
  count.bytes.take(piece.bytes);
  count.asked.take(request.bytes);
  count.blocks.take(1);
  ++m_allocations;
  m_meter.add(piece.bytes);
  return piece.begin;
}

SlabSlot* Heap::take_slot(std::size_t bytes, Effort effort) {
  if (SlabSlot* const slot = m_slabs.take(bytes)) return slot;
  if (m_slabs.collect(bytes, m_shared.retirement.completed(), few) > 0) {
    if (SlabSlot* const slot = m_slabs.take(bytes)) return slot;
  }
  // Asking the devices may make as many slots ready as a new slab would have.
  if (effort == Effort::reuse && m_slabs.many_wait(bytes)) return nullptr;
  Block* const span = take_span(Slabs::span_bytes(bytes), effort);
  if (span == nullptr) return nullptr;
  try {
    m_slabs.cut(*span, bytes);
  } catch (...) {
    //~ leak
    m_arena.put(*span);
    throw;
  }
  return m_slabs.take(bytes);
}

Block* Heap::take_span(std::size_t bytes, Effort effort) {
  // Only reserved memory serves smaller requests than the heap is for.
  bool const is_for   = bytes >= m_shared.smallest || effort == Effort::break_up;
  std::size_t largest = is_for ? everything : 0;
  // Retired memory that fits is asked for before a much larger block is cut.
  if (effort == Effort::reuse && m_shared.smallest > 0 && awaited(bytes) != 0)
    largest = std::min(
        largest, std::max(pool_policy.much_larger_bytes, pool_policy.much_larger_times * bytes));
  Epoch const over = m_shared.retirement.completed();
  collect_spans(over, pool_policy.first_blocks);
  Block* span = m_arena.take(bytes, largest);
  if (span != nullptr) return span;
  if (collect_spans(over, few) > 0) span = m_arena.take(bytes, largest);
  if (span != nullptr || effort == Effort::reuse) return span;
  m_slabs.collect_all(over, pool_policy.some_blocks);
  m_slabs.give_up_kept();
  return m_arena.take(bytes, largest);
}

void Heap::receive(std::size_t most) noexcept {
  for (; most > 0; --most) {
    BlockHeader* const header = m_given_back.take();
    if (header == nullptr) return;
    if (header->is_slot) {
      m_slabs.put(static_cast<SlabSlot&>(*header));
    } else {
      m_retired.push(*header);
    }
  }
}

std::size_t Heap::collect_spans(Epoch over, std::size_t most) noexcept {
  std::size_t moved = 0;
  for (; moved < most; ++moved) {
    auto* const block = static_cast<Block*>(m_retired.front());
    //~ early reuse a
    if (block == nullptr || block->epoch.load(std::memory_order_relaxed) > over) break;
    m_retired.pop();
    m_arena.put(*block);
  }
  return moved;
}

bool Heap::settle(Epoch over, std::size_t most) noexcept {
  receive(most);
  std::size_t const moved = collect_spans(over, most);
  return moved + m_slabs.collect_all(over, most) > 0;
}

Epoch Heap::awaited(std::size_t bytes) const noexcept {
  auto const epoch_of = [](BlockHeader const& header) {
    return header.epoch.load(std::memory_order_relaxed);
  };
  if (is_small(bytes)) {
    if (SlabSlot const* const slot = m_slabs.oldest(bytes)) return epoch_of(*slot);
  }
  // Retired blocks may merge with their neighbours into one that is large enough.
  std::size_t const free = locked_bytes() - in_use_bytes();
  if (free == ready_bytes() || free < span_for(bytes)) return 0;
  return m_retired.back() != nullptr ? epoch_of(*m_retired.back()) : m_shared.retirement.stamp();
}

Epoch Heap::unknown() noexcept {
  receive(few);
  BlockHeader const* const newest = m_retired.back();
  Epoch const epoch = newest != nullptr ? newest->epoch.load(std::memory_order_relaxed) : 0;
  return epoch > m_shared.retirement.completed() ? epoch : 0;
}

bool Heap::asks_too_often(std::size_t bytes) noexcept {
  constexpr std::size_t worth_asking = pool_policy.allocations_a_question;
  if (bytes >= pool_policy.smallest_middle) return false;
  bool const in_a_hurry = m_allocations - m_asked_at < worth_asking;
  m_asked_at            = m_allocations;
  m_asks_in_a_hurry     = in_a_hurry ? m_asks_in_a_hurry + 1 : 0;
  if (m_asks_in_a_hurry < worth_asking) return false;
  m_asks_in_a_hurry = 0;
  return true;
}

bool Heap::give_back(BlockHeader& header) noexcept {
  Epoch const epoch = m_shared.retirement.stamp();
  if (!retire(header)) return false;
  put_back(header, epoch);
  return true;
}

bool Heap::retire(BlockHeader& header) noexcept {
  auto state = BlockState::in_use;
  //~ double free b
  if (!header.state.compare_exchange_strong(state, BlockState::retired, std::memory_order_acq_rel))
    return false;
  Piece const piece = piece_of(header);
  SpaceCount& count = m_spaces[header.space];
  count.bytes.give_back(piece.bytes);
  count.asked.give_back(piece.asked);
  count.blocks.give_back(1);
  m_meter.subtract(piece.bytes);
  return true;
}

void Heap::put_back(BlockHeader& header, Epoch epoch) noexcept {
  header.epoch.store(epoch, std::memory_order_relaxed);
  m_given_back.put(header);
}

std::size_t Heap::least_growth(std::size_t bytes) noexcept { return whole_pages(span_for(bytes)); }

std::size_t Heap::own_growth(std::size_t bytes, std::size_t limit) noexcept {
  return limit > 0 ? least_growth(bytes) : whole_huge_pages(span_for(bytes));
}

std::size_t Heap::good_growth(std::size_t bytes, std::size_t limit) const noexcept {
  constexpr PoolPolicy const& p = pool_policy;
  if (bytes >= p.smallest_large) return own_growth(bytes, limit);
  std::size_t const span = span_for(bytes);
  std::size_t most = m_shared.smallest > 0 ? p.largest_middle_segment : p.largest_small_segment;
  if (limit > 0) most = std::clamp(limit / p.segments_in_limit, p.smallest_segment, most);
  std::size_t const wanted =
      std::clamp(locked_bytes() / p.segment_divisor, p.smallest_segment, most);
  // Whole spans leave no rest at the end.
  std::size_t const bytes_of_spans = std::max<std::size_t>(wanted / span, 1) * span;
  return limit > 0 ? whole_pages(bytes_of_spans) : whole_huge_pages(bytes_of_spans);
}

void Heap::adopt(Segments& made) {
  Segment& segment = made.begin()->second;
  segment.heap     = this;
  m_arena.add(segment);
  m_segment_bytes.fetch_add(segment.region.bytes, std::memory_order_relaxed);
  if (segment.reserved) {
    m_reserved_bytes.fetch_add(segment.region.bytes, std::memory_order_relaxed);
  } else {
    ++m_misses;
  }
  m_segments.insert(made.extract(made.begin()));
}

std::size_t Heap::releasable(Surplus surplus) noexcept {
  m_slabs.give_up_kept();
  Segment const* const segment = m_arena.unused_segment(surplus);
  return segment != nullptr ? segment->region.bytes : 0;
}

Heap::Segments::node_type Heap::release(Surplus surplus) noexcept {
  Segment* const segment = m_arena.unused_segment(surplus);
  if (segment == nullptr) return {};
  m_arena.remove(*segment);
  m_segment_bytes.fetch_sub(segment->region.bytes, std::memory_order_release);
  if (segment->reserved)
    m_reserved_bytes.fetch_sub(segment->region.bytes, std::memory_order_relaxed);
  return m_segments.extract(static_cast<char const*>(segment->region.pointer));
}

std::uint8_t Heap::space_number(char const* name) noexcept {
  std::size_t i = 0;
  for (; i < m_spaces.size() - 1; ++i) {
    char const*& known = m_spaces[i].name;
    if (known == nullptr) known = name;
    if (known == name || std::strcmp(known, name) == 0) break;
  }
  if (i == m_spaces.size() - 1) m_spaces[i].name = "(others)";
  return static_cast<std::uint8_t>(i);
}

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

Segment* Heap::waiting_segment(char const* address) noexcept {
  auto const waits = std::find_if(
      m_segments.lower_bound(address), m_segments.end(),
      [](auto const& segment) { return segment.second.region.origin == Origin::mapped; });
  return waits != m_segments.end() ? &waits->second : nullptr;
}

// From the pages before the address and from the beginning of the segment at once: large blocks
// have segments of their own, and small ones begin a few pages before.
Block* Heap::block_at(void const* pointer) const noexcept {
  auto const* const address = static_cast<char const*>(pointer);
  auto const after          = m_segments.upper_bound(address);
  if (after == m_segments.begin()) return nullptr;
  auto const& [begin, segment] = *std::prev(after);
  std::size_t const offset     = static_cast<std::size_t>(address - begin);
  if (offset >= segment.region.bytes) return nullptr;
  char const* page = begin + offset / Arena::page_bytes * Arena::page_bytes;
  for (Block* block = segment.first;; page -= Arena::page_bytes) {
    if (Block* const found = m_shared.pages.find(page)) return found;
    if (block->after == nullptr || block->after->address > address) return block;
    block = block->after;
  }
}

std::optional<Pool::Extent> Heap::extent_of(Block const& block) const {
  BlockState const state = block.state.load(std::memory_order_acquire);
  if (state != BlockState::in_use && state != BlockState::retained) return std::nullopt;
  Region const& region = block.segment->region;
  return Pool::Extent{block.address,    block.asked,
                      block.bytes,      region.origin != Origin::driver,
                      region.numa_node, m_spaces[block.space].name};
}

pool::Description Heap::describe(Block& block, void const* pointer) const {
  Piece piece = piece_at(block, pointer);
  if (piece.header == nullptr) piece = piece_of(block);
  Region const& region   = block.segment->region;
  Epoch const completed  = m_shared.retirement.completed();
  BlockState const state = piece.header->state.load(std::memory_order_acquire);
  bool const in_use      = state == BlockState::in_use || state == BlockState::retained;
  bool const retired     = state == BlockState::retired && piece.header->epoch > completed;
  pool::Description description{
      "", "", piece.bytes, region.numa_node, region.kind, pool::State::cached};
  if (in_use || retired) {
    description.label = piece.label->data();
    description.space = m_spaces[piece.header->space].name;
    description.bytes = piece.asked;
    description.state = in_use ? pool::State::in_use : pool::State::retired;
  }
  return description;
}

}  // namespace KokkosHostSpaces::Impl::Backend
