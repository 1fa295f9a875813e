// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_RETAIN_TABLE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_RETAIN_TABLE_HPP

#include "Block.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace KokkosHostSpaces::Impl::Backend {

/// A table of reference counts of blocks that graphs need. A block that its owner deallocates
/// meanwhile stays in use, and is retired when the last graph lets it go. The mutex is never held
/// during a call of the driver or the system.
class RetainTable {
 public:
  /// Counts one more reference to a block or slot; false if it is not in use. \throw std::bad_alloc
  bool keep(BlockHeader& header);

  /// Undoes one keep; the last one retires the block if its owner has deallocated it.
  void let_go(BlockHeader& header) noexcept;

  /// Deallocates a block or slot that Heap::give_back refused; false if it is not in use.
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
