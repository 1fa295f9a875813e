// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_ARENA_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_ARENA_HPP

#include "Block.hpp"
#include "PageMap.hpp"
#include "SizeTree.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// What shall be given back, in whole segments that nobody uses.
struct Surplus {
  std::size_t bytes;                                            ///< or more, or all there are
  bool reserved_too = true;                                     ///< segments of reserve() as well
  std::size_t below = std::numeric_limits<std::size_t>::max();  ///< smaller segments alone
};

/// Cuts segments into blocks of whole pages and merges them again. It holds ready blocks only: a
/// retired block joins its neighbours when its epoch is over. So merged blocks have no events to
/// keep, and no ready memory waits because of its neighbour. All takes logarithmic time. Not
/// thread-safe, but for the sum.
class Arena {
 public:
  static constexpr std::size_t page_bytes = PageMap::page_bytes;

  /// The page of each block's first byte leads to the block, whatever its state.
  explicit Arena(PageMap& pages) : m_pages(pages) {}

  /// `bytes` in whole pages.
  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }

  /// A block of at least `bytes`, cut from the best fit; nullptr if there is none. Blocks larger
  /// than `largest` are left whole, except those of reserved segments. Of segments longer than a
  /// window, as of all, it lies in one window if it fits into one. \throw std::bad_alloc
  Block* take(std::size_t bytes, std::size_t largest);

  /// Takes a block back, of which all may have been written; what lay zero behind it stays so.
  void put(Block& block) noexcept;

  /// Adds a segment as one ready block; the page map has room for it. \throw std::bad_alloc
  void add(Segment& segment);

  /// Nothing of the segment is in use, retired or cut into slots.
  static bool unused(Segment const& segment) noexcept {
    return segment.first->state.load(std::memory_order_relaxed) == BlockState::ready &&
           segment.first->after == nullptr;
  }

  /// The unused segment that fits best: the smallest that has as much, else the largest; nullptr if
  /// there is none.
  Segment* unused_segment(Surplus surplus) const noexcept;

  /// Forgets a segment that is unused.
  void remove(Segment& segment) noexcept;

  /// Of all ready blocks.
  std::size_t ready_bytes() const noexcept { return m_ready.load(std::memory_order_relaxed); }

 private:
  SizeTree& tree_of(Block const& block) noexcept;
  Block* best_fit(std::size_t bytes, std::size_t largest) const noexcept;

  /// Makes what lies behind `bytes` of a ready block one of its own. The block is in no tree then.
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
  Block* m_spare = nullptr;  ///< records that nobody uses, by `after`
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
