// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Traces of allocations: random sizes of several distributions, and models of codes.

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_TRACES_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_TRACES_HPP

#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace Traces {

using Random = std::mt19937_64;

/// Who allocates for a trace.
class Allocator {
 public:
  virtual ~Allocator()                      = default;
  virtual void* allocate(std::size_t bytes) = 0;  ///< nullptr if it is refused
  virtual void deallocate(void* memory)     = 0;
};

/// Memory of a trace: counts its allocations, and leaves nothing.
class Memory {
 public:
  struct Block {
    void* memory;
    std::size_t bytes;
  };

  explicit Memory(Allocator& allocator) : m_allocator(allocator) {}

  std::size_t allocations() const { return m_allocations; }
  std::size_t alive() const { return m_alive; }  ///< bytes

  Block allocate(std::size_t bytes) {
    ++m_allocations;
    m_alive += bytes;
    return {m_allocator.allocate(bytes), bytes};
  }
  void deallocate(Block block) {
    m_alive -= block.bytes;
    m_allocator.deallocate(block.memory);
  }
  void deallocate_all(std::vector<Block>& blocks) {
    for (Block const& block : blocks) deallocate(block);
    blocks.clear();
  }

 private:
  Allocator& m_allocator;
  std::size_t m_allocations = 0, m_alive = 0;
};

struct Trace {
  std::string name;
  double most;  ///< locked / peak that is promised, beside 4 MiB a heap
  std::function<void(Memory&, Random&, std::size_t allocations)> run;
};

/// All traces, those that repeat last.
std::vector<Trace> all();

}  // namespace Traces

#endif
