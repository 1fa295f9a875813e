// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Arena.hpp"

#include <algorithm>
#include <bit>

namespace KokkosHostSpaces::Impl {

std::size_t Arena::bin_of(std::size_t bytes) noexcept {
  std::size_t const pages = bytes / page_bytes;
  if (pages < bins_per_doubling) return pages;
  auto const shift = static_cast<std::size_t>(std::bit_width(pages)) - 4;  // leaves 8 to 15
  return std::min((shift + 1) * bins_per_doubling + (pages >> shift) - bins_per_doubling,
                  bin_count - 1);
}

std::size_t Arena::next_used_bin(std::size_t bin) const noexcept {
  for (std::size_t word = bin / 64; word < m_used.size(); ++word) {
    std::uint64_t bits = m_used[word];
    if (word == bin / 64) bits &= ~std::uint64_t(0) << (bin % 64);
    if (bits != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }
  return bin_count;
}

void Arena::enter(Block& block) noexcept {
  std::size_t const bin = bin_of(block.bytes);
  block.state           = BlockState::ready;
  m_bins[bin].push_front(block);
  m_used[bin / 64] |= std::uint64_t(1) << (bin % 64);
}

void Arena::leave(Block& block) noexcept {
  std::size_t const bin = bin_of(block.bytes);
  m_bins[bin].remove(block);
  if (m_bins[bin].empty()) m_used[bin / 64] &= ~(std::uint64_t(1) << (bin % 64));
}

Block* Arena::best_fit(std::size_t bytes, std::size_t largest) const noexcept {
  constexpr int most_looked_at = 32;  // bounds the time; beyond it a good fit will do
  for (std::size_t bin = next_used_bin(bin_of(bytes)); bin < bin_count;
       bin             = next_used_bin(bin + 1)) {
    Block* best = nullptr;
    int looked  = 0;
    for (Block* block = m_bins[bin].front(); block != nullptr && looked < most_looked_at;
         block        = block->next, ++looked) {
      bool const fits =
          block->bytes >= bytes && (block->bytes <= largest || block->segment->reserved);
      if (fits && (best == nullptr || block->bytes < best->bytes)) best = block;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

Block* Arena::take(std::size_t bytes, std::size_t largest) {
  bytes              = whole_pages(bytes);
  Block* const block = best_fit(bytes, largest);
  if (block == nullptr) return nullptr;

  // A small rest stays with the block: crumbs between blocks would serve nobody.
  std::size_t const rest = block->bytes - bytes;
  if (rest >= std::max(page_bytes, bytes / 16)) {
    Block& tail = new_record();
    leave(*block);
    tail.address = block->address + bytes;
    tail.bytes   = rest;
    tail.segment = block->segment;
    tail.before  = block;
    tail.after   = block->after;
    if (tail.after != nullptr) tail.after->before = &tail;
    block->after = &tail;
    block->bytes = bytes;
    enter(tail);
  } else {
    leave(*block);
  }
  block->state = BlockState::in_use;
  return block;
}

void Arena::absorb_next(Block& block) noexcept {
  Block& next = *block.after;
  block.bytes += next.bytes;
  block.after = next.after;
  if (block.after != nullptr) block.after->before = &block;
  drop_record(next);
}

void Arena::put(Block& block) noexcept {
  if (block.after != nullptr && block.after->state == BlockState::ready) {
    leave(*block.after);
    absorb_next(block);
  }
  Block* merged = &block;
  if (block.before != nullptr && block.before->state == BlockState::ready) {
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
  block.segment = &segment;
  segment.first = &block;
  enter(block);
}

void Arena::remove(Segment& segment) noexcept {
  leave(*segment.first);
  drop_record(*segment.first);
  segment.first = nullptr;
}

Block& Arena::new_record() {
  if (m_spare.empty()) {
    constexpr std::size_t count = 64;
    m_records.push_back(std::make_unique<Block[]>(count));
    for (std::size_t i = 0; i < count; ++i) m_spare.push_back(m_records.back()[i]);
  }
  Block& block = *m_spare.front();
  m_spare.remove(block);
  return block;
}

void Arena::drop_record(Block& block) noexcept {
  block = Block{};
  m_spare.push_front(block);
}

}  // namespace KokkosHostSpaces::Impl
