// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_HEAP_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_HEAP_HPP

#include "Arena.hpp"
#include "Block.hpp"
#include "MpscQueue.hpp"
#include "Meter.hpp"
#include "PageMap.hpp"
#include "Policy.hpp"
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

/// A caching allocator over segments of page-locked memory: blocks, slots of slabs, and queues of
/// retired ones. No function waits, calls the driver or the system, or is linear in the number of
/// blocks. Thread-safe: give_back, retire, put_back. Every other function that changes the heap needs
/// the mutex.
class Heap {
 public:
  struct Shared {
    Retirement& retirement;
    PageMap& pages;
    Meter& pool;
    Meter& total;
    HeapMeter::Tells less;
    std::size_t smallest;  ///< bytes of the smallest request that the heap is for
  };

  /// Which steps take() may make.
  enum class Effort {
    reuse,     ///< take ready memory; cut no new slab while as many slots of its size are retired
    carve,     ///< also make more memory ready, merge unused slabs and cut new ones
    break_up,  ///< also cut blocks that are kept for larger requests than this one
  };

  explicit Heap(Shared shared)
      : m_shared(shared),
        m_meter(shared.pool, shared.total, shared.less),
        m_arena(shared.pages),
        m_slabs(m_arena, shared.pages) {}

  std::mutex mutex;
  std::mutex growing;  ///< held while a thread locks memory for more requests than its own
  /// For requests, not for reserve(); and what these requests asked for.
  std::atomic<std::size_t> bytes_being_locked{0};
  std::atomic<std::size_t> bytes_requested{0};

  /// A ready block for the request; nullptr if there is none. \throw std::bad_alloc
  void* take(Pool::Request const& request, Effort effort);

  /// Returns the epoch whose end may make memory ready for a request of `bytes`; 0 if no retired
  /// memory can serve it.
  Epoch awaited(std::size_t bytes) const noexcept;

  /// Returns the epoch whose end makes all retired blocks (not slots) ready; 0 if it is over.
  Epoch unknown() noexcept;

  /// Notes that the devices are going to be asked for a request of `bytes`. True if the last
  /// questions served fewer than eight allocations each: grow instead.
  bool asks_too_often(std::size_t bytes) noexcept;

  /// Retires a block or slot; false if it is not in use. Needs no mutex.
  bool give_back(BlockHeader& header) noexcept;

  /// The two halves of give_back, for who keeps the block between them: it counts as retired; it is
  /// ready when `epoch` is over, 0: now.
  bool retire(BlockHeader& header) noexcept;
  void put_back(BlockHeader& header, Epoch epoch) noexcept;

  /// Makes up to `most` retired blocks, and as many slots, ready whose epoch is at most `over`. Returns
  /// false if there were none. \param over an epoch that is over. Repeated with the same `over`, it
  /// ends although other threads give memory back: theirs has later epochs.
  bool settle(Epoch over, std::size_t most) noexcept;

  /// Bytes of a segment for a request of `bytes`: the smallest one; one for this request alone, in huge
  /// pages; one that also serves later requests. Under a `limit` (0: none) the second is the smallest one,
  /// and the last one is little larger: the unused part of a segment in use cannot be given back, and would
  /// have other requests refused. Whole pages: segments are rounded only here. All saturate.
  static std::size_t least_growth(std::size_t bytes) noexcept;
  static std::size_t own_growth(std::size_t bytes, std::size_t limit) noexcept;
  std::size_t good_growth(std::size_t bytes, std::size_t limit) const noexcept;

  using Segments = std::map<char const*, Segment>;  ///< by address

  /// Adds a segment that PageMap::cover has been called for. \throw std::bad_alloc
  void adopt(Segments& made);

  /// Bytes of the unused segment that Arena::unused_segment chooses; 0 if there is none.
  std::size_t releasable(Surplus surplus) noexcept;

  /// Takes that segment out; empty if there is none. A thread that reads the smaller locked_bytes()
  /// also sees what the caller wrote before.
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

  /// Adds the memory of this heap to `usage`, and to the space of the same name in `spaces`.
  void count(pool::Usage& usage, std::vector<pool::SpaceUsage>& spaces) const;

  /// Describes a block of this heap, or the slot of it that contains `pointer`.
  pool::Description describe(Block& block, void const* pointer) const;
  std::optional<Pool::Extent> extent_of(Block const& block) const;

  /// The first segment from `address` on that waits to be page-locked; nullptr if there is none.
  Segment* waiting_segment(char const* address) noexcept;

  /// Returns the block that contains an address, in any state; nullptr if no segment of this heap
  /// does.
  Block* block_at(void const* pointer) const noexcept;

 private:
  struct SpaceCount {
    char const* name = nullptr;
    Account bytes, asked, blocks;
  };

  SlabSlot* take_slot(std::size_t bytes, Effort effort);
  Block* take_span(std::size_t bytes, Effort effort);
  void receive(std::size_t most) noexcept;
  std::size_t collect_spans(Epoch over, std::size_t most) noexcept;
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
