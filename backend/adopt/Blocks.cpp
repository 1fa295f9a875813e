// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Blocks.hpp"

#include "../os/Pages.hpp"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

std::size_t bytes_of(Block const& block) { return block.granules * Blocks::granule; }

}  // namespace

bool Blocks::reserve() noexcept {
  std::size_t const wanted = std::min(physical_memory(), SIZE_MAX / 4) * 4;
  std::size_t const bytes  = std::max(wanted / page_window, std::size_t(1)) * page_window;
  void* const begin        = reserve_for_pages(bytes);
  if (begin == nullptr) return false;
  void* const records = mmap(nullptr, bytes / granule * sizeof(Block), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (records == MAP_FAILED) {
    munmap(begin, bytes);
    return false;
  }
  // gcore writes what may be dumped, even where nothing is.
  madvise(begin, bytes, MADV_DONTDUMP);
  madvise(records, bytes / granule * sizeof(Block), MADV_DONTDUMP);
  m_records = static_cast<Block*>(records);
  m_begin   = static_cast<char*>(begin);
  m_middle  = m_begin + bytes / 2;
  s_begin   = reinterpret_cast<std::uintptr_t>(begin);
  s_bytes   = bytes;
  for (std::size_t at = s_begin; at < s_begin + bytes;) {
    std::size_t const half = at < s_begin + bytes / 2 ? s_begin + bytes / 2 : s_begin + bytes;
    std::size_t const end  = std::min((at / page_window + 1) * page_window, half);
    list(make(m_begin + (at - s_begin), (end - at) / granule, State::gap));
    at = end;
  }
  return true;
}

// Blocks that touch there are not merged.
bool Blocks::is_border(char const* address) const noexcept {
  return address == m_begin || address == m_middle || address == m_begin + s_bytes ||
         reinterpret_cast<std::uintptr_t>(address) % page_window == 0;
}

Block* Blocks::after(Block const& block) const noexcept {
  char const* const end = block.begin + bytes_of(block);
  return is_border(end) ? nullptr : &record(end);
}

Block& Blocks::make(char* begin, std::size_t granules, State state) noexcept {
  Block& block                              = record(begin);
  block                                     = Block();
  block.begin                               = begin;
  block.granules                            = granules;
  block.state                               = state;
  block.whole                               = &block;
  record(begin + bytes_of(block) - 1).whole = &block;
  return block;
}

// The neighbours of the same state, which are listed, and a block that is not; the whole is not.
Block& Blocks::merged(Block& block, State state) noexcept {
  block.state                = state;  // also of a record that is not the first one's any more
  char* begin                = block.begin;
  std::size_t granules       = block.granules;
  Block* const neighbours[2] = {is_border(begin) ? nullptr : record(begin - 1).whole, after(block)};
  for (Block* const neighbour : neighbours) {
    if (neighbour == nullptr || neighbour->state != state) continue;
    unlist(*neighbour);
    begin = std::min(begin, neighbour->begin);
    granules += neighbour->granules;
  }
  return make(begin, granules, state);
}

void Blocks::list(Block& block) noexcept {
  Lists& lists          = lists_of(block);
  std::size_t const bin = std::min(block.granules, bins - 1);
  block.next            = lists.first[bin];
  block.before          = nullptr;
  if (block.next != nullptr) block.next->before = &block;
  lists.first[bin] = &block;
  lists.filled.set(bin);
}

void Blocks::unlist(Block& block) noexcept {
  Lists& lists          = lists_of(block);
  std::size_t const bin = std::min(block.granules, bins - 1);
  (block.before != nullptr ? block.before->next : lists.first[bin]) = block.next;
  if (block.next != nullptr) block.next->before = block.before;
  if (lists.first[bin] == nullptr) lists.filled.reset(bin);
}

Block* Blocks::fitting(Lists const& lists, std::size_t granules) const noexcept {
  std::size_t bin = std::min(granules, bins - 1);
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
  Block const* const next = after(block);
  return next == nullptr || next->state == State::gap;
}

// Gives its pages back to the system. Pages without access are mapped over them, so that the addresses
// stay reserved; at the limit of mappings they stay writable.
void Blocks::give_up(Block& block) noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(block.begin, bytes_of(block), PROT_NONE, flags, -1, 0) == MAP_FAILED)
    madvise(block.begin, bytes_of(block), MADV_DONTNEED);
  else
    madvise(block.begin, bytes_of(block), MADV_DONTDUMP);
  list(merged(block, State::gap));
}

Block* Blocks::take(std::size_t bytes) noexcept {
  if (bytes > page_window) return nullptr;
  std::size_t const granules = granules_of(bytes);
  Block* block               = fitting(m_kept, granules);
  if (block == nullptr) {
    block = fitting(m_gaps[bytes > largest_kept], granules);
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
  m_threshold  = std::max(m_threshold, 2 * std::min(bytes_of(block), largest_kept));
  Block& whole = merged(block, State::kept);
  if (is_last(whole) && bytes_of(whole) > m_threshold) return give_up(whole);
  list(whole);
}

Block* Blocks::find(void const* pointer) const noexcept {
  auto const* const address = static_cast<char const*>(pointer);
  Block* const block        = record(address).whole;
  bool const is_its         = block != nullptr && block->state == State::in_use &&
                      address >= block->begin && address < block->begin + bytes_of(*block);
  return is_its ? block : nullptr;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
