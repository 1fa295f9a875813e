// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_RETAIN_TABLE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_RETAIN_TABLE_HPP

#include "Block.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace KokkosHostSpaces::Impl::Backend {

/// Memory that others than its owner need, such as a graph which replays copies of it. What its
/// owner gives back meanwhile stays in use, and is given back when the last of them lets it go. The
/// mutex is never held while somebody waits for the device or the system.
class RetainTable {
 public:
  /// Retains a block or slot that is in use; false if it is not. \throw std::bad_alloc
  bool keep(BlockHeader& header);

  /// Undoes one keep.
  void let_go(BlockHeader& header) noexcept;

  /// Takes back a block or slot that its heap refused; false if it is not in use.
  bool give_back(BlockHeader& header) noexcept;

 private:
  struct Kept {
    std::size_t count = 0;
    bool given_back   = false;
  };
  std::mutex m_mutex;
  std::map<BlockHeader*, Kept> m_kept;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
