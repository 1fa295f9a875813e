// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The records of segments, blocks and slots. They lie beside the memory, not in it: a stray write of a
// kernel cannot break the pool, and blocks keep their alignment. They are never freed, so that
// deallocating a wrong address reads a valid record.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_BLOCK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_BLOCK_HPP

#include "../PageLock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

/// The number of a stretch of time between two recordings of all device work; see Retirement.
using Epoch = std::uint64_t;

class Heap;
struct Block;
struct Slab;

/// Ready blocks by bytes and address: the first one that is not less is the best fit. No memory is taken
/// when a block enters or leaves, since each block has its node.
using SizeTree = std::map<std::pair<std::size_t, char*>, Block*>;

/// The first bytes of a label, with a zero at their end.
using Label = std::array<char, 48>;

/// A region of page-locked memory, cut into blocks without gaps.
struct Segment {
  Region region;
  Heap* heap    = nullptr;
  Block* first  = nullptr;
  bool reserved = false;  ///< by reserve(): may be broken up for any request
};

enum class BlockState : unsigned char {
  ready,     ///< may be allocated
  in_use,    ///< allocated
  retained,  ///< allocated or deallocated; a graph needs it, see RetainTable
  retired,   ///< deallocated in `epoch`: ready when that epoch is over
  slab       ///< cut into the slots of a slab
};

/// The record of an allocation: of a block, or of a slot of one. A deallocation changes state, epoch and
/// `next` without a lock; everything else changes under the heap's mutex.
struct BlockHeader {
  static constexpr Epoch never = std::numeric_limits<Epoch>::max();

  std::atomic<BlockHeader*> next{nullptr};  ///< in the queue where it waits
  /// In which it was deallocated; 0: ready; never: in use, or waits for one stream.
  std::atomic<Epoch> epoch{0};
  std::atomic<BlockState> state{BlockState::ready};
  bool is_slot             = false;
  bool is_zero             = false;  ///< a slot full of zeros; changed by its owner
  std::uint8_t space       = 0;      ///< number of the memory space in its heap
  std::uint32_t slot_asked = 0;      ///< of a slot: bytes that its user asked for
};

/// A slot of a slab. Two share a cache line, because there may be millions.
struct SlabSlot : BlockHeader {
  SlabSlot() { is_slot = true; }
  Slab* slab = nullptr;
};
static_assert(sizeof(SlabSlot) == 32);

/// Whole pages of a segment. The members that a deallocation reads lie in one cache line.
struct alignas(64) Block : BlockHeader {
  char* address     = nullptr;
  std::size_t bytes = 0;
  std::size_t asked = 0;  ///< bytes that the user of the block asked for
  std::size_t dirty = 0;  ///< bytes from `dirty` on are zero; changed by the owner while in use
  Segment* segment  = nullptr;
  Slab* slab        = nullptr;  ///< into which it is cut
  Block* before     = nullptr;  ///< the neighbours in the segment
  Block* after      = nullptr;
  SizeTree::node_type node;  ///< of the tree of ready blocks, while it is in none
  SizeTree::iterator place;  ///< in that tree
  Label label{};
};

/// A first-in first-out queue of retired headers; not thread-safe. Those whose epoch is 0 are ready,
/// and wait behind no others.
class RetiredQueue {
 public:
  BlockHeader* front() const noexcept { return m_front; }
  std::size_t size() const noexcept { return m_size; }

  void push(BlockHeader& header) noexcept {
    bool const is_first = m_front == nullptr || header.epoch.load(std::memory_order_relaxed) == 0;
    header.next.store(is_first ? m_front : nullptr, std::memory_order_relaxed);
    if (m_front == nullptr || !is_first) {
      if (m_front != nullptr) m_back->next.store(&header, std::memory_order_relaxed);
      m_back = &header;
    }
    if (is_first) m_front = &header;
    ++m_size;
  }

  void pop() noexcept {
    m_front = m_front->next.load(std::memory_order_relaxed);
    --m_size;
  }

  BlockHeader* back() const noexcept { return m_front != nullptr ? m_back : nullptr; }

 private:
  BlockHeader* m_front = nullptr;
  BlockHeader* m_back  = nullptr;
  std::size_t m_size   = 0;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
