// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Heap.hpp"

#include "../os/Pages.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

constexpr std::size_t smallest_segment = 4 * MiB;
constexpr std::size_t largest_segment  = 64 * MiB;  // for many blocks
constexpr std::size_t own_segment      = 16 * MiB;  // requests from here on have one to themselves
constexpr std::size_t everything       = std::numeric_limits<std::size_t>::max();

// A recording for each of so many frees costs them little, and no more memory waits for later work.
constexpr std::size_t most_unrecorded_blocks = 64;
constexpr std::size_t most_unrecorded_bytes  = MiB;

std::size_t span_for(std::size_t bytes) {
  return bytes <= Slabs::largest ? Slabs::span_bytes(bytes) : Arena::whole_pages(bytes);
}

// As lock_fresh_pages rounds, so that the limit is kept to the byte.
std::size_t whole_segment(std::size_t bytes) {
  std::size_t const unit = bytes < huge_page_bytes ? page_bytes() : huge_page_bytes;
  return (bytes + unit - 1) / unit * unit;
}

// A small request shall not keep a large block from the next large request.
std::size_t largest_to_break(std::size_t bytes) { return std::max(largest_segment, 4 * bytes); }

void copy_label(Block& block, char const* label) {
  std::size_t const length = ::strnlen(label, block.label.size() - 1);
  std::memcpy(block.label.data(), label, length);
  block.label[length] = '\0';
}

}  // namespace

void* Heap::take(Pool::Request const& request, Effort effort) {
  std::uint32_t const space = space_number(request.space);
  Block* const block        = request.bytes <= Slabs::largest ? take_slice(request.bytes, effort)
                                                              : take_span(request.bytes, effort);
  if (block == nullptr) return nullptr;
  if (request.bytes > Slabs::largest)
    m_shared.pages.assign(block->address, Arena::page_bytes, block);
  block->asked = request.bytes;
  block->space = space;
  copy_label(*block, request.label);
  SpaceCount& count = m_spaces[space];
  count.bytes_in_use += block->bytes;
  count.bytes_asked += block->asked;
  ++count.blocks;
  ++count.allocations;
  ++m_allocations;
  m_shared.pool.add(block->bytes);
  m_shared.total.add(block->bytes);
  return block->address;
}

Block* Heap::take_slice(std::size_t bytes, Effort effort) {
  Epoch const completed = m_shared.retirement.completed();
  if (Block* const slice = m_slabs.take(bytes, completed)) return slice;
  // Slices that are retired may be ready, if only somebody asks the device: a new slab can wait.
  if (effort == Effort::reuse && m_slabs.next(bytes) != nullptr) return nullptr;
  Block* const span = take_span(Slabs::span_bytes(bytes), effort);
  if (span == nullptr) return nullptr;
  try {
    m_slabs.cut(*span, bytes);
  } catch (...) {
    m_arena.put(*span);
    throw;
  }
  m_shared.pages.assign(span->address, span->bytes, span);
  return m_slabs.take(bytes, completed);
}

Block* Heap::take_span(std::size_t bytes, Effort effort) {
  std::size_t const largest = effort == Effort::break_up ? everything : largest_to_break(bytes);
  // A few at a time are enough to keep up, and no allocation has to merge thousands.
  collect(4);
  Block* span = m_arena.take(bytes, largest);
  if (span == nullptr) {
    collect(everything);
    span = m_arena.take(bytes, largest);
  }
  return span;
}

void Heap::collect(std::size_t most) noexcept {
  Epoch const completed = m_shared.retirement.completed();
  for (; most > 0 && !m_retired.empty() && m_retired.front()->epoch <= completed; --most) {
    Block& block = *m_retired.front();
    m_retired.remove(block);
    m_retired_bytes -= block.bytes;
    m_arena.put(block);
  }
}

Epoch Heap::awaited(std::size_t bytes) const noexcept {
  if (bytes <= Slabs::largest) {
    if (Block const* const slice = m_slabs.next(bytes)) return slice->epoch;
  }
  bool const could_fit = !m_retired.empty() && m_retired_bytes >= span_for(bytes);
  return could_fit ? m_retired.back()->epoch : 0;
}

bool Heap::retire(Block& block, void const* pointer, bool& record) noexcept {
  bool const sliced = block.state == BlockState::sliced;
  Block* const mine = sliced ? block.slab->slice_at(pointer) : &block;
  bool const is_used =
      mine != nullptr && mine->state == BlockState::in_use && mine->address == pointer;
  if (!is_used) return false;

  SpaceCount& count = m_spaces[mine->space];
  count.bytes_in_use -= mine->bytes;
  count.bytes_asked -= mine->asked;
  --count.blocks;
  m_shared.pool.subtract(mine->bytes);
  m_shared.total.subtract(mine->bytes);

  mine->epoch = m_shared.retirement.stamp();
  if (sliced) {
    m_slabs.put(*mine);
  } else {
    mine->state = BlockState::retired;
    m_shared.pages.assign(mine->address, Arena::page_bytes, nullptr);
    m_retired.push_back(*mine);
    m_retired_bytes += mine->bytes;
  }

  ++m_unrecorded_blocks;
  m_unrecorded_bytes += mine->bytes;
  record =
      m_unrecorded_blocks >= most_unrecorded_blocks || m_unrecorded_bytes >= most_unrecorded_bytes;
  if (record) m_unrecorded_blocks = m_unrecorded_bytes = 0;
  return true;
}

std::size_t Heap::least_growth(std::size_t bytes) noexcept {
  return whole_segment(span_for(bytes));
}

std::size_t Heap::good_growth(std::size_t bytes) const noexcept {
  if (bytes >= own_segment) return least_growth(bytes);
  // What is not used yet of a new segment, and what is left when it is full, shall be little.
  std::size_t const span   = span_for(bytes);
  std::size_t const wanted = std::clamp(m_segment_bytes / 8, smallest_segment, largest_segment);
  return whole_segment(std::max<std::size_t>(wanted / span, 1) * span);
}

void Heap::adopt(Region const& region, bool reserved) {
  m_shared.pages.cover(region.pointer, region.bytes);
  m_segments.push_back({region, this, nullptr, reserved});
  try {
    m_arena.add(m_segments.back());
  } catch (...) {
    m_segments.pop_back();
    throw;
  }
  m_segment_bytes += region.bytes;
  if (!reserved) ++m_misses;
}

std::size_t Heap::release(std::size_t bytes, std::list<Segment>& out) noexcept {
  collect(everything);
  m_slabs.dissolve(m_shared.retirement.completed(), [&](Block& span) {
    m_shared.pages.assign(span.address, span.bytes, nullptr);
    m_arena.put(span);
  });
  std::size_t released = 0;
  for (auto segment = m_segments.begin(); segment != m_segments.end() && released < bytes;) {
    auto const next = std::next(segment);
    if (Arena::unused(*segment)) {
      m_arena.remove(*segment);
      m_segment_bytes -= segment->region.bytes;
      released += segment->region.bytes;
      out.splice(out.end(), m_segments, segment);
    }
    segment = next;
  }
  return released;
}

std::uint32_t Heap::space_number(char const* name) {
  auto const same = [&](SpaceCount const& count) {
    return count.name == name || std::strcmp(count.name, name) == 0;
  };
  auto const found  = std::find_if(m_spaces.begin(), m_spaces.end(), same);
  auto const number = static_cast<std::uint32_t>(found - m_spaces.begin());
  if (found == m_spaces.end()) m_spaces.push_back({name, 0, 0, 0, 0});
  return number;
}

}  // namespace KokkosHostSpaces::Impl
