// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_ARENA_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_ARENA_HPP

#include "Block.hpp"
#include "PageMap.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// Which unused segments to give back.
struct Surplus {
  std::size_t bytes;                                            ///< at least, if there are as many
  bool reserved_too = true;                                     ///< also those of reserve()
  std::size_t below = std::numeric_limits<std::size_t>::max();  ///< only segments of fewer bytes
};

/// A coalescing best-fit suballocator of segments, in whole pages and logarithmic time. It holds ready
/// blocks only: a retired block is merged with its neighbours when its epoch is over, so that no ready
/// memory waits for a neighbour. Only ready_bytes() is thread-safe.
class Arena {
 public:
  static constexpr std::size_t page_bytes = PageMap::page_bytes;

  /// The page of each block's first byte leads to the block, whatever its state.
  explicit Arena(PageMap& pages) : m_pages(pages) {}

  /// `bytes` in whole pages.
  static constexpr std::size_t rounded(std::size_t bytes) {
    //~ failure 19b
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }

  /// Returns a block of at least `bytes`, cut from the best fit; nullptr if there is none. Does not
  /// take from blocks larger than `largest`, except those of reserved segments. The block crosses the
  /// end of a page_window only if it is longer than one. \throw std::bad_alloc
  Block* take(std::size_t bytes, std::size_t largest);

  /// Takes a block back and merges it with ready neighbours. All of its bytes count as dirty.
  void put(Block& block) noexcept;

  /// Adds a segment as one ready block, after PageMap::cover. \throw std::bad_alloc
  void add(Segment& segment);

  /// True if no part of the segment is in use, retired or cut into slots.
  static bool unused(Segment const& segment) noexcept {
    return segment.first->state.load(std::memory_order_relaxed) == BlockState::ready &&
           segment.first->after == nullptr;
  }

  /// The smallest unused segment of at least `surplus.bytes`, else the largest one; nullptr if there is
  /// none.
  Segment* unused_segment(Surplus surplus) const noexcept;

  /// Removes an unused segment.
  void remove(Segment& segment) noexcept;

  /// Of all ready blocks.
  std::size_t ready_bytes() const noexcept { return m_ready.load(std::memory_order_relaxed); }

 private:
  SizeTree& tree_of(Block const& block) noexcept;
  Block* best_fit(std::size_t bytes, std::size_t largest) const noexcept;

  /// Cuts a ready block after `bytes` and returns the rest, which is ready. Takes the block itself out
  /// of its tree.
  Block& cut(Block& block, std::size_t bytes);
  void count(std::size_t difference) noexcept;
  void enter(Block& block) noexcept;
  void leave(Block& block) noexcept;
  void absorb_next(Block& block) noexcept;

  Block& new_record();
  void drop_record(Block& block) noexcept;

  enum { reserved = 1, whole_segment = 2 };
  PageMap& m_pages;
  std::array<SizeTree, 4> m_trees{};
  std::atomic<std::size_t> m_ready{0};
  std::vector<std::unique_ptr<Block[]>> m_records;
  Block* m_spare = nullptr;  ///< unused records, linked by `after`
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
