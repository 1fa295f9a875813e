// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Blocks.hpp"

#include "../os/Pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

bool Blocks::reserve() noexcept {
  std::size_t const wanted  = std::min(physical_memory(), SIZE_MAX / 4) * 4;
  std::size_t const bytes   = std::max(wanted / page_window, std::size_t(1)) * page_window;
  std::size_t const records = whole_pages((bytes / granule + 1) * sizeof(Block));
  auto* const begin         = static_cast<char*>(reserve_for_pages(bytes + records));
  if (begin == nullptr || mprotect(begin + bytes, records, PROT_READ | PROT_WRITE) != 0)
    return false;
  // gcore writes what may be dumped, even where nothing is.
  madvise(begin, bytes + records, MADV_DONTDUMP);
  m_records = reinterpret_cast<Block*>(begin + bytes);
  m_middle  = begin + bytes / 2;
  s_begin   = begin;
  s_bytes   = bytes;
  for (std::size_t at = 0, most; at < bytes; at += most) {
    std::size_t const half = at < bytes / 2 ? bytes / 2 : bytes;
    most = std::min(page_window - address_of(begin + at) % page_window, half - at);
    make(begin + at, 1, State::border);
    list(make(begin + at + granule, most / granule - 1, State::gap));
  }
  make(s_begin + bytes, 1, State::border);
  return true;
}

Block& Blocks::make(char* begin, std::size_t granules, State state) noexcept {
  Block& block                  = record(begin);
  block                         = {.begin = begin, .granules = granules, .state = state};
  block.whole                   = &block;
  record(block.end() - 1).whole = &block;
  return block;
}

// The neighbours of the same state, which are listed, and a block that is not; the whole is not.
Block& Blocks::merged(Block& block, State state) noexcept {
  block.state                = state;  // also of a record that is not the first one's any more
  char* begin                = block.begin;
  std::size_t granules       = block.granules;
  Block* const neighbours[2] = {record(begin - 1).whole, &record(block.end())};
  for (Block* const neighbour : neighbours) {
    if (neighbour->state != state) continue;
    unlist(*neighbour);
    begin = std::min(begin, neighbour->begin);
    granules += neighbour->granules;
  }
  return make(begin, granules, state);
}

void Blocks::list(Block& block) noexcept {
  Lists& lists          = lists_of(block);
  std::size_t const bin = bin_of(block.granules);
  block.next            = lists.first[bin];
  if (block.next != nullptr) block.next->before = &block;
  lists.first[bin] = &block;
  lists.filled.set(bin);
}

void Blocks::unlist(Block& block) noexcept {
  Lists& lists                                                      = lists_of(block);
  std::size_t const bin                                             = bin_of(block.granules);
  (block.before != nullptr ? block.before->next : lists.first[bin]) = block.next;
  if (block.next != nullptr) block.next->before = block.before;
  if (lists.first[bin] == nullptr) lists.filled.reset(bin);
}

Block* Blocks::fitting(Lists const& lists, std::size_t granules) const noexcept {
  std::size_t bin = bin_of(granules);
  if (!lists.filled.test(bin)) bin = lists.filled._Find_next(bin);
  Block* last = nullptr;
  for (; bin < bins; bin = lists.filled._Find_next(bin)) {
    for (Block* block = lists.first[bin]; block != nullptr; block = block->next) {
      if (block->granules < granules) continue;
      if (block->state == State::gap || !is_last(*block)) return block;
      last = block;
    }
  }
  return last;
}

// Behind all that is in use there, and so the one that is given up: taken if no other fits.
bool Blocks::is_last(Block const& block) const noexcept {
  State const next = record(block.end()).state;
  return next == State::gap || next == State::border;
}

// Gives its pages back to the system. Pages without access are mapped over them, so that the addresses
// stay reserved; at the limit of mappings they stay writable.
void Blocks::give_up(Block& block) noexcept {
  constexpr int flags     = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  std::size_t const bytes = block.granules * granule;
  if (mmap(block.begin, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED)
    madvise(block.begin, bytes, MADV_DONTNEED);
  madvise(block.begin, bytes, MADV_DONTDUMP);
  list(merged(block, State::gap));
}

Block* Blocks::take(std::size_t bytes) noexcept {
  if (bytes >= page_window) return nullptr;
  std::size_t const granules = granules_of(bytes);
  Block* block               = fitting(m_kept, granules);
  if (block == nullptr) {
    block = fitting(m_gaps[granules > largest_kept], granules);
    if (block == nullptr || mprotect(block->begin, granules * granule, PROT_READ | PROT_WRITE) != 0)
      return nullptr;
    madvise(block->begin, granules * granule, MADV_DODUMP);
  }
  unlist(*block);
  if (block->granules > granules)
    list(make(block->begin + granules * granule, block->granules - granules, block->state));
  block->granules = granules;
  block->state    = State::in_use;
  for (std::size_t i = 0; i < granules; ++i) block[i].whole = block;
  return block;
}

void Blocks::give(Block& block) noexcept {
  if (block.begin >= m_middle) return give_up(block);
  m_threshold  = std::max(m_threshold, 2 * std::min(block.granules, largest_kept));
  Block& whole = merged(block, State::kept);
  if (is_last(whole) && whole.granules > m_threshold) return give_up(whole);
  list(whole);
}

Block* Blocks::find(void const* pointer) const noexcept {
  Block* const block = record(pointer).whole;
  bool const is_its  = block != nullptr && block->state == State::in_use &&
                      pointer >= block->begin && pointer < block->end();
  return is_its ? block : nullptr;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
