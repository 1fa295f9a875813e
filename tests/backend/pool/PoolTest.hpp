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

#endif
