// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_HEAP_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_HEAP_HPP

#include "Arena.hpp"
#include "Block.hpp"
#include "MpscQueue.hpp"
#include "Meter.hpp"
#include "PageMap.hpp"
#include "Pool.hpp"
#include "Retirement.hpp"
#include "Slabs.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// Segments, the blocks in them, and the queues of what is retired. No function waits, or calls the
/// device or the system, and none takes longer when there are more blocks. Giving back needs no
/// lock; all else that changes something is called with the mutex held.
class Heap {
 public:
  struct Shared {
    Retirement& retirement;
    PageMap& pages;
    Meter& pool;
    Meter& total;
    HeapMeter::Tells less;
    bool is_for_large;
  };

  /// How far to go for a block.
  enum class Effort {
    reuse,     ///< take what lies ready
    carve,     ///< also cut new slabs, though slots of the size wait
    break_up,  ///< also break up blocks that are kept for large requests
  };

  static constexpr std::size_t smallest_segment = std::size_t(4) << 20;

  /// Requests from here on have a heap of their own, so that smaller ones never cut what they need.
  static constexpr std::size_t smallest_large = std::size_t(1) << 20;

  /// Requests from here on have a segment to themselves.
  static constexpr std::size_t own_segment = std::size_t(16) << 20;

  explicit Heap(Shared shared)
      : m_shared(shared), m_meter(shared.pool, shared.total, shared.less), m_arena(shared.pages) {}

  std::mutex mutex;
  std::mutex growing;  ///< held by who locks memory for others as well, while they wait for it
  std::atomic<std::size_t> coming{0};      ///< bytes that are being locked, but for reserve()
  std::atomic<std::size_t> coming_for{0};  ///< of these, for what is asked for now

  /// A ready block for the request; nullptr if there is none. \throw std::bad_alloc
  void* take(Pool::Request const& request, Effort effort);

  /// The epoch that must be over before more could be taken for a request of so many bytes; 0 if
  /// nothing that is retired would do.
  Epoch awaited(std::size_t bytes) const noexcept;

  /// The epoch that must be over before all blocks beyond slots are ready; 0 if they are.
  Epoch unknown() noexcept;

  /// Notes that the devices are asked for a request of so many bytes. True if that came of late too
  /// often for what it brought: more memory would be the better answer.
  bool asks_too_often(std::size_t bytes) noexcept;

  /// Takes back a block or slot; false if it is not in use. Without the mutex.
  bool give_back(BlockHeader& header) noexcept;

  /// Looks at up to `most` of what was given back, and makes those ready whose epoch
  /// comes not after `over`, which is; false if there was nothing more to do. With the same `over`
  /// it comes to an end, whatever other threads give back.
  bool settle(Epoch over, std::size_t most) noexcept;

  /// Bytes of the smallest segment that serves a request of so many bytes; of one that serves it
  /// alone, in huge pages; and of one that serves more to come. Whole pages: sizes of segments are
  /// rounded nowhere else. Saturates.
  static std::size_t least_growth(std::size_t bytes) noexcept;
  static std::size_t own_growth(std::size_t bytes) noexcept;
  std::size_t good_growth(std::size_t bytes) const noexcept;

  using Segments = std::map<char const*, Segment>;  ///< by address

  /// Adds memory, for which the page map has room. \throw std::bad_alloc
  void adopt(Segments& made);

  /// Bytes of the segment that fits best, of those that nobody uses; 0 if there is none.
  std::size_t releasable(Surplus surplus) noexcept;

  /// Takes that segment out; empty if there is none. Who reads fewer locked bytes also sees what the
  /// caller did before.
  Segments::node_type release(Surplus surplus) noexcept;

  /// Sums that can be read without the mutex.
  std::size_t locked_bytes() const noexcept {
    return m_segment_bytes.load(std::memory_order_acquire);
  }
  std::size_t in_use_bytes() const noexcept { return m_meter.in_use(); }
  Account const& account() const noexcept { return m_meter.account(); }
  std::size_t ready_bytes() const noexcept { return m_arena.ready_bytes() + m_slabs.ready_bytes(); }
  std::size_t allocations() const noexcept { return m_allocations; }  ///< with the mutex held
  std::size_t reserved_bytes() const noexcept {
    return m_reserved_bytes.load(std::memory_order_relaxed);
  }

  /// Adds what this heap holds; spaces are matched by name.
  void count(pool::Usage& usage, std::vector<pool::SpaceUsage>& spaces) const;

  /// Of a block of this heap, and of the slot at an address in it.
  pool::Description describe(Block const& block, void const* pointer) const;
  std::optional<Pool::Extent> extent_of(Block const& block) const;

  /// Is an address in a segment of this heap?
  bool holds(void const* pointer) const noexcept;

 private:
  struct SpaceCount {
    char const* name = nullptr;
    Account bytes, asked, blocks;
  };

  SlabSlot* take_slot(std::size_t bytes, Effort effort);
  Block* take_span(std::size_t bytes, Effort effort);
  void receive(std::size_t most) noexcept;
  std::size_t collect_spans(Epoch over, std::size_t most) noexcept;
  void take_whole_slab(Block& span) noexcept;
  std::uint8_t space_number(char const* name) noexcept;

  Shared m_shared;
  HeapMeter m_meter;
  MpscQueue m_given_back;
  Arena m_arena;
  Slabs m_slabs;
  RetiredQueue m_retired;  ///< blocks of the arena
  std::atomic<std::size_t> m_segment_bytes{0};
  std::atomic<std::size_t> m_reserved_bytes{0};  ///< of these, in reserved segments
  Segments m_segments;
  std::array<SpaceCount, 32> m_spaces;  ///< the last one counts for all that find no place
  std::size_t m_allocations     = 0;
  std::size_t m_misses          = 0;
  std::size_t m_asked_at        = 0;  ///< allocations when the devices were asked last
  std::size_t m_asks_in_a_hurry = 0;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
