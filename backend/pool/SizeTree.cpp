// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "SizeTree.hpp"

#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

bool comes_before(Block const& a, Block const& b) noexcept {
  return a.bytes != b.bytes ? a.bytes < b.bytes : a.address < b.address;
}

// A hash of the address.
std::uint64_t priority(Block const& block) noexcept {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  std::uint64_t const hash       = (reinterpret_cast<std::uintptr_t>(block.address) >> 12) * golden;
  return (hash ^ (hash >> 32)) * golden;
}

// Splits a tree into the blocks before `at` and those after it.
void split(Block* tree, Block const& at, Block*& before, Block*& after) noexcept {
  Block** below = &before;
  Block** above = &after;
  while (tree != nullptr) {
    if (comes_before(*tree, at)) {
      *below = tree;
      below  = &tree->larger;
      tree   = tree->larger;
    } else {
      *above = tree;
      above  = &tree->smaller;
      tree   = tree->smaller;
    }
  }
  *below = *above = nullptr;
}

// Joins two trees; all blocks of the first come before those of the second.
Block* joined(Block* first, Block* second) noexcept {
  Block* root = nullptr;
  Block** to  = &root;
  while (first != nullptr && second != nullptr) {
    if (priority(*first) > priority(*second)) {
      *to   = first;
      to    = &first->larger;
      first = first->larger;
    } else {
      *to    = second;
      to     = &second->smaller;
      second = second->smaller;
    }
  }
  *to = first != nullptr ? first : second;
  return root;
}

}  // namespace

void SizeTree::insert(Block& block) noexcept {
  std::uint64_t const mine = priority(block);
  Block** place            = &m_root;
  while (*place != nullptr && priority(**place) >= mine)
    place = comes_before(block, **place) ? &(*place)->smaller : &(*place)->larger;
  split(*place, block, block.smaller, block.larger);
  *place = &block;
}

void SizeTree::remove(Block& block) noexcept {
  Block** place = &m_root;
  while (*place != &block)
    place = comes_before(block, **place) ? &(*place)->smaller : &(*place)->larger;
  *place        = joined(block.smaller, block.larger);
  block.smaller = block.larger = nullptr;
}

Block* SizeTree::at_least(std::size_t bytes) const noexcept {
  Block* best = nullptr;
  for (Block* block = m_root; block != nullptr;) {
    bool const fits = block->bytes >= bytes;
    if (fits) best = block;
    block = fits ? block->smaller : block->larger;
  }
  return best;
}

Block* SizeTree::after(Block const& block) const noexcept {
  Block* best = nullptr;
  for (Block* other = m_root; other != nullptr;) {
    bool const follows = comes_before(block, *other);
    if (follows) best = other;
    other = follows ? other->smaller : other->larger;
  }
  return best;
}

Block* SizeTree::largest_below(std::size_t bytes) const noexcept {
  Block* best = nullptr;
  for (Block* block = m_root; block != nullptr;) {
    bool const is_below = block->bytes < bytes;
    if (is_below) best = block;
    block = is_below ? block->larger : block->smaller;
  }
  return best;
}

}  // namespace KokkosHostSpaces::Impl::Backend
