// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_ARENA_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_ARENA_HPP

#include "Block.hpp"
#include "PageMap.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Cuts segments into blocks of whole pages and merges them again. It holds ready blocks only: a
/// retired block joins its neighbours when its epoch is over. So merged blocks have no events to
/// keep, and no ready memory waits because of its neighbour. Not thread-safe.
class Arena {
 public:
  static constexpr std::size_t page_bytes = PageMap::page_bytes;

  /// `bytes` in whole pages.
  static constexpr std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }

  /// A block of at least `bytes`, cut from the best fit; nullptr if there is none. Blocks larger
  /// than `largest` are left whole, except those of reserved segments. \throw std::bad_alloc
  Block* take(std::size_t bytes, std::size_t largest);

  /// Takes a ready block back.
  void put(Block& block) noexcept;

  /// Adds a segment as one ready block. \throw std::bad_alloc
  void add(Segment& segment);

  /// Nothing of the segment is in use, retired or sliced.
  static bool unused(Segment const& segment) noexcept {
    return segment.first->state == BlockState::ready && segment.first->after == nullptr;
  }

  /// Forgets a segment that is unused.
  void remove(Segment& segment) noexcept;

 private:
  // Bins of blocks whose sizes lie within 1/8: 8 bins for each doubling.
  static constexpr std::size_t bins_per_doubling = 8;
  static constexpr std::size_t bin_count         = 320;

  static std::size_t bin_of(std::size_t bytes) noexcept;
  std::size_t next_used_bin(std::size_t bin) const noexcept;
  Block* best_fit(std::size_t bytes, std::size_t largest) const noexcept;
  void enter(Block& block) noexcept;
  void leave(Block& block) noexcept;
  void absorb_next(Block& block) noexcept;

  Block& new_record();
  void drop_record(Block& block) noexcept;

  std::array<BlockList, bin_count> m_bins{};
  std::array<std::uint64_t, bin_count / 64> m_used{};  ///< bit b: bin b has blocks
  std::vector<std::unique_ptr<Block[]>> m_records;
  BlockList m_spare;
};

}  // namespace KokkosHostSpaces::Impl

#endif
