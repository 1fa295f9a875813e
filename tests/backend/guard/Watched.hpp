// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_WATCHED_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_WATCHED_HPP

#include "../pool/PoolTest.hpp"

/// Follows what is needed, and by how much the pool holds more than a quarter more and 4 MiB for
/// each heap that was used.
class Watched {
 public:
  char* allocate(std::size_t bytes) {
    char* const block = PoolTest::allocate(bytes);
    note();
    return block;
  }
  /// What is retired is needed, for work may still use it.
  char* allocate_beside_work(std::size_t bytes) {
    auto const usage = PoolTest::usage();
    needs(usage.bytes_in_use + usage.bytes_retired + bytes);
    return allocate(bytes);
  }
  void deallocate(char* block) {
    Pool::deallocate(block);
    note();
  }
  void note() {
    auto const usage = PoolTest::usage();
    needs(usage.bytes_in_use);
    m_heaps                   = std::max(m_heaps, heaps_in_use());
    m_locked                  = usage.bytes_locked;
    std::size_t const allowed = m_needed + m_needed / 4 + m_heaps * 4 * MiB;
    m_excess                  = std::max(m_excess, m_locked - std::min(m_locked, allowed));
  }

  std::size_t excess() const { return m_excess; }  ///< the most there was
  std::size_t needed() const { return m_needed; }  ///< likewise
  std::size_t locked() const { return m_locked; }  ///< last

 private:
  void needs(std::size_t bytes) { m_needed = std::max(m_needed, bytes); }

  static std::size_t heaps_in_use() {
    std::size_t heaps = 0;
    Pools::instance().for_each_heap(
        [&](Heap const& heap) { heaps += heap.locked_bytes() > 0 ? 1 : 0; });
    return heaps;
  }

  std::size_t m_heaps = 0, m_needed = 0, m_locked = 0, m_excess = 0;
};

#endif
