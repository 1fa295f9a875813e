// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_PAGE_MAP_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_PAGE_MAP_HPP

#include <atomic>
#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

struct Block;

/// From an address to the block that begins on its page: a table in two levels, read without a
/// lock. An entry takes 8 bytes for 4 KiB, and only where blocks begin.
class PageMap {
 public:
  static constexpr std::size_t page_bytes = 4096;

  PageMap();  // never destroyed: memory may be given back until the very end
  PageMap(PageMap const&)            = delete;
  PageMap& operator=(PageMap const&) = delete;

  /// Makes room for the pages of a range. \throw std::bad_alloc \throw Error beyond 48 bits.
  void cover(void const* pointer, std::size_t bytes);

  /// The block at the page of `pointer`; nullptr if there is none.
  Block* find(void const* pointer) const noexcept;

  /// The page of the last entry that is not after `pointer`; nullptr where no entry can be. Takes as
  /// long as the pages between them are many: a nanosecond for each.
  void const* begin_of(void const* pointer) const noexcept;

  /// Sets the entries of pages that are covered.
  void assign(void const* pointer, std::size_t bytes, Block* block) noexcept;

 private:
  struct Leaf;
  std::atomic<Leaf*>* m_root;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
