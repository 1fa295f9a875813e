// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_POOL_TEST_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_POOL_TEST_HPP

#include "../../../backend/pool/Pool.hpp"
#include "../../../backend/pool/Pools.hpp"
#include "../BackendTest.hpp"

/// Begins a test of the pool by start_test, with empty pools, and empties them again.
class PoolTest {
 public:
  explicit PoolTest(int devices = 0, bool used = true) {
    empty();
    forget_what_stays();
    start_test(devices, used);
  }
  ~PoolTest() { empty(); }
  PoolTest(PoolTest const&)            = delete;
  PoolTest& operator=(PoolTest const&) = delete;

  static char* allocate(std::size_t bytes, char const* label = "of a test", int numa_node = -1,
                        MemoryKind kind = MemoryKind::page_locked) {
    return static_cast<char*>(Pool::allocate({bytes, kind, numa_node, "TestSpace", label}));
  }

  /// Of the other kind of memory.
  static char* write_combined(std::size_t bytes) {
    return allocate(bytes, "write-combined", -1, MemoryKind::write_combined);
  }

  static pool::Reservation reserve(std::size_t bytes, std::size_t chunk) {
    return Pool::reserve(bytes, MemoryKind::page_locked, -1, chunk);
  }

  /// Asks the devices for all that is retired. With nothing running, all is ready then.
  static void make_ready() { pool::trim(SIZE_MAX); }

  static pool::Usage usage() { return pool::statistics().total; }

 private:
  // Forgets what the runtime refused to unlock in an earlier test: locked, and in no heap. Memory of
  // a graph that CUDA has yet to destroy is in a heap.
  static void forget_what_stays() {
    Pools* const pools = Pools::existing();
    if (pools == nullptr) return;
    std::size_t const stays = pools->ledger.locked() - usage().bytes_locked;
    if (stays == 0) return;
    pools->ledger.leaves();
    pools->ledger.release(stays);
    pools->release_ready({0});  // with nothing locked, it forgets what was needed
  }

  static void empty() {
    pool::set_limit(0);
    Pool::release_all();
  }
};

/// Blocks of a test, deallocated at its end.
class Blocks : public std::vector<char*> {
 public:
  Blocks() = default;
  ~Blocks() { deallocate(); }
  Blocks(Blocks const&)            = delete;
  Blocks& operator=(Blocks const&) = delete;

  char* add(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked) {
    push_back(nullptr);
    try {
      back() = PoolTest::allocate(bytes, "of a test", -1, kind);
    } catch (...) {
      pop_back();
      throw;
    }
    return back();
  }
  /// False if it is refused.
  bool try_add(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked) {
    try {
      add(bytes, kind);
    } catch (OutOfPinnedMemory const&) {
      return false;
    }
    return true;
  }
  void deallocate() {
    for (char* const block : *this) Pool::deallocate(block);
    clear();
  }
};

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
