// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_PAGE_MAP_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_PAGE_MAP_HPP

#include <atomic>
#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

struct Block;

/// A table in two levels that maps an address to the block that begins on its page; for slabs, every
/// page has an entry. Read without a lock. An entry takes 8 bytes for 4 KiB.
class PageMap {
 public:
  static constexpr std::size_t page_bytes = 4096;

  PageMap();  // never destroyed: static destructors may deallocate
  PageMap(PageMap const&)            = delete;
  PageMap& operator=(PageMap const&) = delete;

  /// Makes room for the pages of a range. \throw std::bad_alloc \throw Error beyond 48 bits.
  void cover(void const* pointer, std::size_t bytes);

  /// The block at the page of `pointer`; nullptr if there is none.
  Block* find(void const* pointer) const noexcept;

  /// Is the page of `pointer` near to covered ones, or one of them?
  bool may_cover(void const* pointer) const noexcept;

  /// Sets the entries of covered pages.
  void assign(void const* pointer, std::size_t bytes, Block* block) noexcept;

 private:
  struct Leaf;
  std::atomic<Leaf*>* m_root;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
