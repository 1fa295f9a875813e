// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_MPSC_QUEUE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_MPSC_QUEUE_HPP

#include "Block.hpp"

#include <atomic>

namespace KokkosHostSpaces::Impl::Backend {

/// A lock-free first-in first-out queue for many producers and one consumer (D. Vyukov). `put` is two
/// atomic instructions; a thread that is interrupted between them hides later elements until it goes
/// on.
class MpscQueue {
 public:
  void put(BlockHeader& header) noexcept {
    header.next.store(nullptr, std::memory_order_relaxed);
    BlockHeader* const before = m_last.exchange(&header, std::memory_order_acq_rel);
    before->next.store(&header, std::memory_order_release);
  }

  /// The oldest; nullptr if there is none. With the heap's mutex held.
  BlockHeader* take() noexcept {
    BlockHeader* next = after(*m_first);
    if (m_first == &m_stub) {
      if (next == nullptr) return nullptr;
      m_first = next;
      next    = after(*m_first);
    }
    if (next == nullptr) {
      // The last one cannot leave before something follows it.
      if (m_first != m_last.load(std::memory_order_acquire)) return nullptr;
      put(m_stub);
      next = after(*m_first);
      if (next == nullptr) return nullptr;
    }
    BlockHeader* const oldest = m_first;
    m_first                   = next;
    return oldest;
  }

 private:
  static BlockHeader* after(BlockHeader const& header) noexcept {
    return header.next.load(std::memory_order_acquire);
  }

  BlockHeader m_stub;
  BlockHeader* m_first = &m_stub;
  alignas(64) std::atomic<BlockHeader*> m_last{&m_stub};
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
