// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_HEAP_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_HEAP_HPP

#include "../Pool.hpp"
#include "Arena.hpp"
#include "Block.hpp"
#include "PageMap.hpp"
#include "Retirement.hpp"
#include "Slabs.hpp"

#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Bytes in use and the most there ever were. The lines of heaps which share a meter meet here.
class Meter {
 public:
  void add(std::size_t bytes) noexcept {
    std::size_t const now = m_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t high      = m_high_water.load(std::memory_order_relaxed);
    while (high < now &&
           !m_high_water.compare_exchange_weak(high, now, std::memory_order_relaxed)) {
    }
  }
  void subtract(std::size_t bytes) noexcept {
    m_in_use.fetch_sub(bytes, std::memory_order_relaxed);
  }
  std::size_t high_water() const noexcept { return m_high_water.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> m_in_use{0};
  std::atomic<std::size_t> m_high_water{0};
};

/// Segments, the blocks in them, and the queue of those that are retired. No function waits, calls
/// the device or the system. All but the constructor are called with the mutex held.
class Heap {
 public:
  struct Shared {
    Retirement& retirement;
    PageMap& pages;
    Meter& pool;
    Meter& total;
  };

  /// How far to go for a block.
  enum class Effort {
    reuse,     ///< take what lies ready
    carve,     ///< also cut a new slab
    break_up,  ///< also break up blocks that are kept for large requests
  };

  explicit Heap(Shared shared) : m_shared(shared) {}

  std::mutex mutex;

  /// A ready block for the request; nullptr if there is none. \throw std::bad_alloc
  void* take(Pool::Request const& request, Effort effort);

  /// The epoch that must be over before more could be taken for a request of so many bytes; 0 if
  /// nothing that is retired would do.
  Epoch awaited(std::size_t bytes) const noexcept;

  /// Takes memory back that begins in `block`; false if it is not in use. Sets `record` if the work
  /// of the devices should be recorded now, for later work not to delay much memory.
  bool retire(Block& block, void const* pointer, bool& record) noexcept;

  /// Bytes of the smallest segment that serves a request of so many bytes, and of one that serves
  /// more to come.
  static std::size_t least_growth(std::size_t bytes) noexcept;
  std::size_t good_growth(std::size_t bytes) const noexcept;

  /// Adds memory. \throw std::bad_alloc \throw Error
  void adopt(Region const& region, bool reserved);

  /// Moves segments that nobody uses into `out`, until it has `bytes` of them. Returns how many it
  /// has added.
  std::size_t release(std::size_t bytes, std::list<Segment>& out) noexcept;

  /// Adds what this heap holds; spaces are matched by name.
  void count(Pool::Usage& usage, std::vector<Pool::SpaceUsage>& spaces) const;

  std::optional<Pool::Description> describe(void const* pointer) const;

 private:
  struct SpaceCount {
    char const* name;
    std::size_t bytes_in_use, bytes_asked, blocks, allocations;
  };

  Block* take_slice(std::size_t bytes, Effort effort);
  Block* take_span(std::size_t bytes, Effort effort);
  void collect(std::size_t most) noexcept;
  std::uint32_t space_number(char const* name);

  Shared m_shared;
  Arena m_arena;
  Slabs m_slabs;
  BlockList m_retired;  ///< blocks of the arena, in the order of their epochs
  std::size_t m_retired_bytes = 0;
  std::size_t m_segment_bytes = 0;
  std::list<Segment> m_segments;
  std::vector<SpaceCount> m_spaces;
  std::size_t m_allocations       = 0;
  std::size_t m_misses            = 0;
  std::size_t m_unrecorded_blocks = 0;  ///< retired since this heap last asked for a recording
  std::size_t m_unrecorded_bytes  = 0;
};

}  // namespace KokkosHostSpaces::Impl

#endif
