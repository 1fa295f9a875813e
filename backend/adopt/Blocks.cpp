// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Blocks.hpp"

#include "../os/Pages.hpp"

#include <algorithm>
#include <utility>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

constexpr std::size_t per_huge_page = huge_page_bytes / Blocks::granule;
constexpr std::size_t per_window    = page_window / Blocks::granule;

void* reserve_addresses(std::size_t bytes) noexcept {
  void* const begin =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return begin == MAP_FAILED ? nullptr : begin;
}

std::size_t bytes_of(Block const& block) { return block.granules * Blocks::granule; }

// Granules to skip so that a large block begins at a huge page, and none crosses the end of a window.
std::size_t lead_of(char const* begin, std::size_t granules, bool is_large) noexcept {
  std::size_t const at        = reinterpret_cast<std::uintptr_t>(begin) / Blocks::granule;
  std::size_t lead            = is_large ? (0 - at) % per_huge_page : 0;
  std::size_t const in_window = (at + lead) % per_window;
  if (granules <= per_window && in_window + granules > per_window) lead += per_window - in_window;
  return lead;
}

}  // namespace

bool Blocks::reserve() noexcept {
  rlimit limit     = {};
  long const pages = sysconf(_SC_PHYS_PAGES);
  if (pages <= 0 || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
    return false;
  std::size_t const wanted = 4 * static_cast<std::size_t>(pages) * page_bytes();
  std::size_t const bytes  = std::max(wanted / page_window, std::size_t(1)) * page_window;
  auto* const begin        = static_cast<char*>(reserve_for_pages(bytes));
  if (begin == nullptr) return false;
  void* const table = reserve_addresses(bytes / granule * sizeof(Block*));
  bool const usable = table != nullptr && mprotect(table, bytes / granule * sizeof(Block*),
                                                   PROT_READ | PROT_WRITE) == 0;
  if (!usable) {
    munmap(begin, bytes);
    return false;
  }
  m_table = static_cast<Block**>(table);
  m_begin = begin;
  s_begin = reinterpret_cast<std::uintptr_t>(begin);
  s_bytes = bytes;
  try {
    m_records.reserve(4096);
    provide_records();
    m_middle       = begin + bytes / 4;
    Block& small   = new_record();
    small.begin    = begin;
    small.granules = bytes / 4 / granule;
    Block& large   = new_record();
    large.begin    = m_middle;
    large.granules = bytes / granule - small.granules;
    enter_gap(small);
    enter_gap(large);
  } catch (...) {
    s_bytes = 0;
    return false;
  }
  return true;
}

// As many as one call needs, so that nothing fails half-way.
void Blocks::provide_records() {
  constexpr std::size_t enough = 4, count = 256;
  if (m_records.size() >= enough) return;
  m_records.reserve(m_records.size() + count);
  auto* const made = new Block[count];  // never freed
  for (std::size_t i = 0; i < count; ++i) m_records.push_back(&made[i]);
}

Block& Blocks::new_record() noexcept {
  Block& block = *m_records.back();
  m_records.pop_back();
  block = Block();
  return block;
}

// Entries of granules inside may still lead to it.
void Blocks::drop_record(Block& block) noexcept {
  block = Block();
  if (m_records.size() < m_records.capacity()) m_records.push_back(&block);
}

void Blocks::mark_ends(Block& block) noexcept {
  entry(block.begin)                             = &block;
  entry(block.begin + bytes_of(block) - granule) = &block;
}

Block* Blocks::before(Block const& block) const noexcept {
  bool const is_first = block.begin == m_begin || block.begin == m_middle;
  return is_first ? nullptr : entry(block.begin - granule);
}

Block* Blocks::after(Block const& block) const noexcept {
  char const* const end = block.begin + bytes_of(block);
  return end != m_middle && end < m_begin + s_bytes ? entry(end) : nullptr;
}

// Cuts a block that is in no list; returns the rest, which is in none either.
Block& Blocks::cut(Block& block, std::size_t granules) noexcept {
  Block& rest    = new_record();
  rest.begin     = block.begin + granules * granule;
  rest.granules  = block.granules - granules;
  rest.state     = block.state;
  block.granules = granules;
  mark_ends(block);
  mark_ends(rest);
  return rest;
}

void Blocks::absorb(Block& block, Block& next) noexcept {
  block.granules += next.granules;
  drop_record(next);
  mark_ends(block);
}

// By the entry of a gap that it was a part of, else by a new one.
void Blocks::enter_gap(Block& block, Gaps::node_type node) noexcept {
  block.state = State::gap;
  mark_ends(block);
  if (!node.empty()) {
    node.value() = {block.granules, &block};
    gaps_at(block.begin).insert(std::move(node));
    return;
  }
  try {
    gaps_at(block.begin).emplace(block.granules, &block);
  } catch (...) {
    block.state = State::lost;  // addresses alone
  }
}

void Blocks::keep(Block& block) noexcept {
  Block*& first = m_bins[std::min(block.granules, bins - 1)];
  block.state   = State::kept;
  block.next    = first;
  block.before  = nullptr;
  if (first != nullptr) first->before = &block;
  first = &block;
  m_filled.set(std::min(block.granules, bins - 1));
  mark_ends(block);
}

void Blocks::unkeep(Block& block) noexcept {
  std::size_t const bin                                        = std::min(block.granules, bins - 1);
  (block.before != nullptr ? block.before->next : m_bins[bin]) = block.next;
  if (block.next != nullptr) block.next->before = block.before;
  if (m_bins[bin] == nullptr) m_filled.reset(bin);
}

// Gives its pages back to the system. Pages without access are mapped over them, so that the addresses
// stay reserved; at the limit of mappings they stay writable.
void Blocks::give_up(Block& block) noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(block.begin, bytes_of(block), PROT_NONE, flags, -1, 0) == MAP_FAILED)
    madvise(block.begin, bytes_of(block), MADV_DONTNEED);
  Block* whole       = &block;
  Block* const next  = after(block);
  Block* const first = before(block);
  Gaps::node_type node;
  if (next != nullptr && next->state == State::gap) {
    node = gaps_at(next->begin).extract({next->granules, next});
    absorb(block, *next);
  }
  if (first != nullptr && first->state == State::gap) {
    node = gaps_at(first->begin).extract({first->granules, first});
    absorb(*first, block);
    whole = first;
  }
  enter_gap(*whole, std::move(node));
}

Block* Blocks::take_kept(std::size_t granules) {
  if (granules > largest_kept / granule) return nullptr;
  std::size_t const bin = m_filled.test(granules) ? granules : m_filled._Find_next(granules);
  if (bin >= bins) return nullptr;
  Block& block = *m_bins[bin];
  unkeep(block);
  if (block.granules > granules) keep(cut(block, granules));
  return &block;
}

Block* Blocks::take_fresh(std::size_t granules) {
  bool const is_large = granules > largest_kept / granule;
  Gaps& gaps          = m_gaps[is_large ? 1 : 0];
  for (auto gap = gaps.lower_bound({granules, nullptr}); gap != gaps.end(); ++gap) {
    Block* block           = gap->second;
    std::size_t const lead = lead_of(block->begin, granules, is_large);
    if (lead + granules > block->granules) continue;
    if (mprotect(block->begin + lead * granule, granules * granule, PROT_READ | PROT_WRITE) != 0)
      return nullptr;
    auto node = gaps.extract(gap);
    if (lead > 0) {
      Block& front = *block;
      block        = &cut(front, lead);
      enter_gap(front);
    }
    if (block->granules > granules) enter_gap(cut(*block, granules), std::move(node));
    return block;
  }
  return nullptr;
}

Block* Blocks::take(std::size_t bytes) {
  if (bytes > s_bytes) return nullptr;
  std::size_t const granules = (bytes + granule - 1) / granule;
  provide_records();
  Block* block = take_kept(granules);
  if (block == nullptr) block = take_fresh(granules);
  if (block == nullptr) return nullptr;
  block->state = State::in_use;
  std::fill_n(&entry(block->begin), granules, block);
  return block;
}

void Blocks::give(Block& block) noexcept {
  block.locked = block.bytes = 0;
  block.copies               = 0;
  block.registered = block.refused = block.pinned_for_user = false;
  if (bytes_of(block) > largest_kept) return give_up(block);
  m_threshold  = std::max(m_threshold, 2 * bytes_of(block));
  Block* whole = &block;
  if (Block* const next = after(*whole); next != nullptr && next->state == State::kept) {
    unkeep(*next);
    absorb(*whole, *next);
  }
  if (Block* const first = before(*whole); first != nullptr && first->state == State::kept) {
    unkeep(*first);
    absorb(*first, *whole);
    whole = first;
  }
  Block const* const next = after(*whole);
  bool const is_last      = next == nullptr || next->state == State::gap;
  if (is_last && bytes_of(*whole) > m_threshold) return give_up(*whole);
  keep(*whole);
}

Block* Blocks::find(void const* pointer) const noexcept {
  auto const* const address = static_cast<char const*>(pointer);
  Block* const block        = entry(address);
  bool const is_its         = block != nullptr && block->state == State::in_use &&
                      address >= block->begin && address < block->begin + bytes_of(*block);
  return is_its ? block : nullptr;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
