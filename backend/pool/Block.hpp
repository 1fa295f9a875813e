// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the pool remembers of a stretch of memory. Records lie beside the memory, not in it: a stray
// write of a kernel cannot break the pool, and blocks keep their alignment.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_BLOCK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_BLOCK_HPP

#include "../Region.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// Numbers the stretches of time between two recordings of all device work; see Retirement.
using Epoch = std::uint64_t;

class Heap;
struct Block;
struct Slab;

/// Memory as the system gave it, cut into blocks without gaps.
struct Segment {
  Region region;
  Heap* heap    = nullptr;
  Block* first  = nullptr;
  bool reserved = false;  ///< by Pool::reserve: may be broken up for any request
};

enum class BlockState : unsigned char {
  ready,    ///< in the arena: merged with its neighbours, for everybody
  in_use,   ///< somebody's
  retired,  ///< given back in `epoch`: ready when that epoch is over
  sliced    ///< cut into the slices of a slab
};

struct Block {
  char* address       = nullptr;
  std::size_t bytes   = 0;
  std::size_t asked   = 0;  ///< bytes that the user of the block asked for
  Epoch epoch         = 0;  ///< in which it was given back
  Segment* segment    = nullptr;
  Slab* slab          = nullptr;  ///< into which it is cut, or of which it is a slice
  Block* before       = nullptr;  ///< the neighbours in the segment; none for a slice
  Block* after        = nullptr;
  Block* previous     = nullptr;  ///< in the list where it waits
  Block* next         = nullptr;
  BlockState state    = BlockState::ready;
  std::uint32_t space = 0;  ///< number of the memory space in its heap
  std::array<char, 48> label{};
};

/// A list through the blocks themselves: adding and removing needs no memory and cannot fail.
class BlockList {
 public:
  bool empty() const noexcept { return m_front == nullptr; }
  Block* front() const noexcept { return m_front; }
  Block* back() const noexcept { return m_back; }

  void push_front(Block& block) noexcept { insert(block, nullptr, m_front); }
  void push_back(Block& block) noexcept { insert(block, m_back, nullptr); }

  void remove(Block& block) noexcept {
    (block.previous != nullptr ? block.previous->next : m_front) = block.next;
    (block.next != nullptr ? block.next->previous : m_back)      = block.previous;
    block.previous = block.next = nullptr;
  }

 private:
  void insert(Block& block, Block* previous, Block* next) noexcept {
    block.previous                                   = previous;
    block.next                                       = next;
    (previous != nullptr ? previous->next : m_front) = &block;
    (next != nullptr ? next->previous : m_back)      = &block;
  }

  Block* m_front = nullptr;
  Block* m_back  = nullptr;
};

}  // namespace KokkosHostSpaces::Impl

#endif
