// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Lists of batches that were checked: programs make the same ones again and again, if of other
// memory. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_PLAIN_LISTS_HPP
#define KOKKOS_HOST_SPACES_IMPL_PLAIN_LISTS_HPP

#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>
#include <KokkosHostSpaces/impl/batch/SliceSweep.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// A list of pieces that were found plain, whatever memory they are of.
struct PlainList {
  NearPieces pieces{};
  KnownSlices slices{};  ///< which the pieces were; there are none if they were Views
};

/// The latest ones. A list does not change, so that threads may share it; who has enqueued what
/// reads it may let it go, since its memory goes back to the pool. By any number of threads.
class PlainLists {
 public:
  using List = std::shared_ptr<PlainList const>;

  static constexpr std::size_t most = 4;  ///< such as halos of several fields, there and back

  /// The latest list that `is_it`; nullptr if there is none.
  template <class IsIt>
  List find(IsIt const& is_it) {
    for (std::size_t i = 0; i < most; ++i) {
      List list = at(i);
      if (list == nullptr) break;
      if (!is_it(*list)) continue;
      if (i > 0) bring_forward(list);
      return list;
    }
    return nullptr;
  }

  void keep(List list) {
    {
      std::lock_guard const lock(m_mutex);
      std::rotate(m_lists.begin(), m_lists.end() - 1, m_lists.end());
      m_lists.front().swap(list);
    }  // what was there goes without the mutex
  }

  void clear() {
    std::array<List, most> gone;
    std::lock_guard const lock(m_mutex);
    gone.swap(m_lists);
  }

 private:
  List at(std::size_t i) {
    std::lock_guard const lock(m_mutex);
    return m_lists[i];
  }
  void bring_forward(List const& list) {
    std::lock_guard const lock(m_mutex);
    auto const found = std::find(m_lists.begin(), m_lists.end(), list);
    if (found != m_lists.end()) std::rotate(m_lists.begin(), found, found + 1);
  }

  std::mutex m_mutex;
  std::array<List, most> m_lists;  ///< the latest one first
};

}  // namespace KokkosHostSpaces::Impl

#endif
