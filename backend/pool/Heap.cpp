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

constexpr std::size_t MiB = std::size_t(1) << 20;

constexpr std::size_t largest_segment = 64 * MiB;  // for many blocks
constexpr std::size_t everything      = std::numeric_limits<std::size_t>::max();

// A few at a time are enough to keep up with what is given back, and keep the lock short.
constexpr std::size_t few  = 64;
constexpr std::size_t some = 256;

// A guard protects whole pages: nobody else may have something there.
bool is_sliced(std::size_t bytes) { return bytes <= Slabs::largest && !config().guard; }

std::size_t span_for(std::size_t bytes) {
  return is_sliced(bytes) ? Slabs::span_bytes(bytes) : Arena::whole_pages(bytes);
}

// A small request shall not keep a large block from the next large request.
std::size_t largest_to_break(std::size_t bytes) { return std::max(largest_segment, 4 * bytes); }

void copy_label(Label& to, char const* label) {
  std::size_t const length = ::strnlen(label, to.size() - 1);
  std::memcpy(to.data(), label, length);
  to[length] = '\0';
}

}  // namespace

void* Heap::take(Pool::Request const& request, Effort effort) {
  receive(few);
  SpaceCount* count = nullptr;
  void* memory      = nullptr;
  std::size_t bytes = 0;
  if (is_sliced(request.bytes)) {
    SlabSlot* const slice = take_slice(request.bytes, effort);
    if (slice == nullptr) return nullptr;
    slice->slice_asked = static_cast<std::uint32_t>(request.bytes);
    slice->space       = space_number(request.space);
    copy_label(slice->slab->label_of(*slice), request.label);
    count  = &m_spaces[slice->space];
    bytes  = slice->slab->slice_bytes;
    memory = slice->slab->address_of(*slice);
  } else {
    Block* const block = take_span(request.bytes, effort);
    if (block == nullptr) return nullptr;
    block->asked = request.bytes;
    block->space = space_number(request.space);
    copy_label(block->label, request.label);
    count  = &m_spaces[block->space];
    bytes  = block->bytes;
    memory = block->address;
    m_shared.pages.assign(memory, Arena::page_bytes, block);
  }
  count->bytes.take(bytes);
  count->asked.take(request.bytes);
  count->blocks.take(1);
  ++m_allocations;
  m_meter.add(bytes);
  return memory;
}

SlabSlot* Heap::take_slice(std::size_t bytes, Effort effort) {
  if (SlabSlot* const slice = m_slabs.take(bytes)) return slice;
  auto const take_whole = [&](Block& span) { take_whole_slab(span); };
  if (m_slabs.collect(bytes, m_shared.retirement.completed(), few, take_whole) > 0) {
    if (SlabSlot* const slice = m_slabs.take(bytes)) return slice;
  }
  // As many may be ready, if only somebody asks the devices.
  if (effort == Effort::reuse && m_slabs.many_wait(bytes)) return nullptr;
  Block* const span = take_span(Slabs::span_bytes(bytes), effort);
  if (span == nullptr) return nullptr;
  try {
    m_slabs.cut(*span, bytes);
  } catch (...) {
    m_arena.put(*span);
    throw;
  }
  m_shared.pages.assign(span->address, span->bytes, span);
  return m_slabs.take(bytes);
}

Block* Heap::take_span(std::size_t bytes, Effort effort) {
  std::size_t const largest = effort == Effort::break_up ? everything : largest_to_break(bytes);
  Epoch const over          = m_shared.retirement.completed();
  collect_spans(over, 4);
  Block* span = m_arena.take(bytes, largest);
  if (span != nullptr) return span;
  if (collect_spans(over, few) > 0) span = m_arena.take(bytes, largest);
  if (span != nullptr || effort == Effort::reuse) return span;
  auto const take_whole = [&](Block& whole) { take_whole_slab(whole); };
  m_slabs.collect_all(over, some, take_whole);
  m_slabs.give_up_kept(take_whole);
  return m_arena.take(bytes, largest);
}

void Heap::take_whole_slab(Block& span) noexcept {
  m_shared.pages.assign(span.address, span.bytes, nullptr);
  m_arena.put(span);
}

void Heap::receive(std::size_t most) noexcept {
  for (; most > 0; --most) {
    BlockHeader* const piece = m_inbox.take();
    if (piece == nullptr) return;
    if (piece->is_slice) {
      m_slabs.put(static_cast<SlabSlot&>(*piece));
    } else {
      m_retired.push(*piece);
    }
  }
}

std::size_t Heap::collect_spans(Epoch over, std::size_t most) noexcept {
  std::size_t moved = 0;
  for (; moved < most; ++moved) {
    auto* const block = static_cast<Block*>(m_retired.front());
    if (block == nullptr || block->epoch.load(std::memory_order_relaxed) > over) break;
    m_retired.pop();
    m_shared.pages.assign(block->address, Arena::page_bytes, nullptr);
    m_arena.put(*block);
  }
  return moved;
}

bool Heap::settle(Epoch over, std::size_t most) noexcept {
  receive(most);
  std::size_t moved = collect_spans(over, most);
  moved += m_slabs.collect_all(over, most, [&](Block& span) { take_whole_slab(span); });
  return moved > 0;
}

Epoch Heap::awaited(std::size_t bytes) const noexcept {
  auto const epoch_of = [](BlockHeader const& piece) {
    return piece.epoch.load(std::memory_order_relaxed);
  };
  if (is_sliced(bytes)) {
    if (SlabSlot const* const slice = m_slabs.oldest(bytes)) return epoch_of(*slice);
  }
  // What waits in pieces may be whole again together with what lies beside it.
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
  constexpr std::size_t worth_asking = 8;  // allocations served by one question
  if (bytes >= MiB) return false;
  bool const in_a_hurry = m_allocations - m_asked_at < worth_asking;
  m_asked_at            = m_allocations;
  m_asks_in_a_hurry     = in_a_hurry ? m_asks_in_a_hurry + 1 : 0;
  if (m_asks_in_a_hurry < worth_asking) return false;
  m_asks_in_a_hurry = 0;
  return true;
}

bool Heap::give_back(BlockHeader& piece) noexcept {
  Epoch const epoch = m_shared.retirement.stamp();
  auto state        = BlockState::in_use;
  if (!piece.state.compare_exchange_strong(state, BlockState::retired, std::memory_order_acq_rel))
    return false;
  piece.epoch.store(epoch, std::memory_order_relaxed);
  bool const sliced = piece.is_slice;
  std::size_t const bytes =
      sliced ? static_cast<SlabSlot&>(piece).slab->slice_bytes : static_cast<Block&>(piece).bytes;
  SpaceCount& count = m_spaces[piece.space];
  count.bytes.give_back(bytes);
  count.asked.give_back(sliced ? piece.slice_asked : static_cast<Block&>(piece).asked);
  count.blocks.give_back(1);
  m_meter.subtract(bytes);
  m_inbox.put(piece);
  return true;
}

std::size_t Heap::least_growth(std::size_t bytes) noexcept { return whole_pages(span_for(bytes)); }

std::size_t Heap::good_growth(std::size_t bytes) const noexcept {
  if (bytes >= own_segment) return least_growth(bytes);
  // What is not used yet of a new segment, and what is left when it is full, shall be little.
  std::size_t const span   = span_for(bytes);
  std::size_t const wanted = std::clamp(locked_bytes() / 8, smallest_segment, largest_segment);
  return whole_pages(std::max<std::size_t>(wanted / span, 1) * span);
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
  m_slabs.give_up_kept([&](Block& span) { take_whole_slab(span); });
  Segment const* const segment = m_arena.unused_segment(surplus);
  return segment != nullptr ? segment->region.bytes : 0;
}

Heap::Segments::node_type Heap::release(Surplus surplus) noexcept {
  Segment* const segment = m_arena.unused_segment(surplus);
  if (segment == nullptr) return {};
  m_arena.remove(*segment);
  m_segment_bytes.fetch_sub(segment->region.bytes, std::memory_order_relaxed);
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

}  // namespace KokkosHostSpaces::Impl::Backend
