// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_SIZE_TREE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_SIZE_TREE_HPP

#include "Block.hpp"

#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

/// Blocks by size, those of one size by address: finds the best fit in logarithmic time, and needs
/// no memory of its own. A treap: a heap by a hash of the address, which balances it (Aragon and
/// Seidel 1989).
class SizeTree {
 public:
  bool empty() const noexcept { return m_root == nullptr; }
  void insert(Block& block) noexcept;
  void remove(Block& block) noexcept;

  /// The smallest block of at least `bytes`; nullptr if there is none.
  Block* at_least(std::size_t bytes) const noexcept;

  /// The block that comes next in the order of the tree; nullptr if there is none.
  Block* after(Block const& block) const noexcept;

  /// The largest block of less than `bytes`; nullptr if there is none.
  Block* largest_below(std::size_t bytes) const noexcept;

 private:
  Block* m_root = nullptr;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
