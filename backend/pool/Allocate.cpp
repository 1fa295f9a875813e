// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Allocation and deallocation. An allocation tries, from the cheapest step to the dearest: ready memory;
// asking the devices whether retired memory is ready; ready memory of other heaps; new memory; and, if
// the limit or the system refuses that, the loop of a shortage.

#include "../Config.hpp"
#include "../Error.hpp"
#include "../os/Fork.hpp"
#include "../os/MemoryLimit.hpp"
#include "../os/Pages.hpp"
#include "Pool.hpp"
#include "Pools.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

using Clock = Retirement::Clock;

std::string in_bytes(std::size_t count) { return std::to_string(count) + " bytes"; }

/// The steps of an allocation that found no ready memory. No lock is held between them. All may throw
/// std::bad_alloc.
struct SlowPath {
  Pools& pools;
  NodePool& pool;
  Heap& heap;  ///< of the calling thread
  Pool::Request const& request;
  std::size_t const locked_before = heap.locked_bytes();  ///< of that heap, at the beginning

  /// Takes from one heap of the pool, also from retired memory whose epoch is over.
  void* take(Heap& from, Heap::Effort effort) const;

  /// Takes from any heap of the pool for requests of this size, or from all its heaps. The heap that had memory
  /// then lends `for_guests` bytes to small requests of other sizes.
  enum class Sizes { same, all };
  void* take_anywhere(Sizes sizes = Sizes::same, std::size_t for_guests = 0) const;

  struct Refusal {
    std::string why    = {};
    std::string remedy = {};     ///< beside asking for less; empty: none
    bool is_of_system  = false;  ///< false: the limit refused
  };

  /// Grows the heap by `bytes` and takes from it; nullptr, and why, if the limit or the system refuses.
  void* take_grown(std::size_t bytes, Refusal& refusal) const;

  /// For when the limit or the system refuses more memory. Tries again while other threads lock or give
  /// back memory, gives back ready memory, and waits for retired memory. \throw OutOfPinnedMemory
  void* take_in_shortage(std::size_t least) const;

  /// Returns why the request fails even if all that is not in use is given back; empty if it does not.
  /// \param least bytes of the smallest segment that would serve it
  std::string why_impossible(std::size_t least) const;

  /// \param remedy of the limit that refused; empty: there is none
  [[noreturn]] void refuse(std::string const& why, std::string const& remedy) const;
};

void* SlowPath::take(Heap& from, Heap::Effort effort) const {
  pools.on_streams.collect();
  constexpr std::size_t at_once = pool_policy.some_blocks;
  Epoch const over              = pools.retirement.completed();
  for (;;) {
    std::lock_guard const lock(from.mutex);
    if (void* const memory = from.take(request, effort)) return memory;
    if (!from.settle(over, at_once)) return nullptr;
  }
}

void* SlowPath::take_anywhere(Sizes sizes, std::size_t for_guests) const {
  for (Heap& other : pool.heaps) {
    if (other.locked_bytes() == 0) continue;
    if (sizes == Sizes::same && !pool.is_for(request.bytes, other)) continue;
    void* const memory = take(other, Heap::Effort::break_up);
    if (memory == nullptr) continue;
    pool.prefer(other);
    if (for_guests > 0) pool.let_guests_in(other, for_guests);
    return memory;
  }
  return nullptr;
}

void* SlowPath::take_grown(std::size_t bytes, Refusal& refusal) const {
  try {
    auto const lock = pools.grow(pool, heap, bytes, request.bytes);
    return heap.take(request, Heap::Effort::break_up);
  } catch (LimitReached const&) {
    refusal = {"the limit of the pool is reached", pools.raise_limit(), false};
  } catch (Refused const& error) {
    refusal = {error.what(), error.remedy(), true};
  }
  return nullptr;
}

std::string SlowPath::why_impossible(std::size_t least) const {
  std::size_t const limit_of_all = pools.ledger.limit();
  if (limit_of_all == 0) return "";
  std::size_t const limit = limit_of_all - std::min(limit_of_all, pools.ledger.apart());
  // Locked memory may serve the request when it gets ready, even if a new segment would be too much.
  std::size_t const locked = pools.ledger.locked();
  if (least > limit && request.bytes > locked)
    return "the pool needs " + in_bytes(least) + " for it, which is more than its limit";
  return pools.traffic().in_use() > std::max(limit, locked) - request.bytes
             ? "with what is in use, that is more than the limit of the pool"
             : "";
}

void SlowPath::refuse(std::string const& why, std::string const& remedy) const {
  pool::Statistics const now = pool::statistics();
  bool const is_alone_too_large =
      exceeds_memory(request.bytes) ||
      (now.limit > 0 && request.bytes > std::max(now.limit, now.total.bytes_locked));
  bool const others_are_in_the_way = now.total.bytes_in_use > 0 && !is_alone_too_large;
  throw OutOfPinnedMemory(
      "'" + std::string(request.label) + "' in the space " + request.space + " cannot have " +
      in_bytes(request.bytes) + " (" + why + "; in use " + in_bytes(now.total.bytes_in_use) +
      ", cached " + in_bytes(now.total.bytes_cached) + ", retired " +
      in_bytes(now.total.bytes_retired) +
      (now.bytes_node_shared > 0 ? ", shared with the node " + in_bytes(now.bytes_node_shared)
                                 : std::string()) +
      ", limit of the pool " + pools.limit_in_words() + ", RLIMIT_MEMLOCK " +
      locked_memory_limit() +
      "): " + (others_are_in_the_way ? "destroy Views that are not needed, " : "") +
      (!remedy.empty()         ? "ask for fewer bytes, or " + remedy
       : others_are_in_the_way ? "or ask for fewer bytes"
                               : "ask for fewer bytes"));
}

// The loop of a shortage. It ends with memory, or with a refusal when no other thread can help or at
// the deadline.
class Shortage {
 public:
  Shortage(SlowPath const& path, std::size_t least) : m_path(path), m_least(least) {}

  void* take() {
    for (;;) {
      look();
      if (void* const memory = m_path.take_anywhere()) return memory;
      if (void* const memory = m_path.take_grown(m_least, m_refusal)) return memory;
      if (m_refusal.is_of_system) ++m_changes;  // by this attempt's own reservation, not by others
      // Memory in transit may be enough.
      if (m_pools.ledger.in_transit()) {
        pause();
        continue;
      }
      std::unique_lock const role(m_pools.making_room, std::try_to_lock);
      bool const may_give_back = role.owns_lock() && old_work_is_over();
      if (may_give_back) {
        if (void* const memory = m_path.take_anywhere()) return memory;
        if (give_back_ready()) continue;
      }
      if (void* const memory = m_path.take_anywhere(SlowPath::Sizes::all)) return memory;
      if (may_give_back) refuse_if_nobody_helps();
      pause();
    }
  }

 private:
  // Giving back waits for running work, which may never end. So it begins when the work that ran at
  // first is over, and then the work that was submitted meanwhile.
  bool old_work_is_over() {
    using Progress = Retirement::Progress;
    do {
      if (m_epoch == 0) m_epoch = m_pools.retirement.stamp();
      m_progress = m_pools.retirement.reach(m_epoch);
      if (m_progress == Progress::no_events)
        m_progress =
            m_pools.retirement.fence(m_epoch, Clock::now() + pool_policy.patience_for_fence);
      if (m_progress == Progress::pending || m_progress == Progress::busy) return false;
      m_epoch      = 0;
      m_first_over = !m_first_over;
    } while (m_first_over);
    return true;
  }

  bool give_back_ready() {
    std::size_t const excess = m_pools.ledger.excess(m_least);
    // Without an excess the system refused, and does not tell how much is missing.
    return m_pools.release_ready({excess == 0 ? m_least : excess}) > 0;
  }

  void refuse_if_nobody_helps() {
    //~ failure 9b
    if (m_progress == Retirement::Progress::capturing || !others_are_at_work())
      m_path.refuse(m_refusal.why, m_refusal.remedy);
  }

  void look() {
    m_changes = m_pools.ledger.changes();
    m_traffic = m_pools.traffic();
    m_retired = m_pools.needed_bytes() > m_traffic.in_use();
  }

  // True if memory is retired or was so at the last look, or if allocations, deallocations or segments
  // have changed since then: for a second after nothing was retired any more.
  bool others_are_at_work() {
    if (m_retired || m_pools.needed_bytes() > m_pools.traffic().in_use()) {
      m_nothing_left_since.reset();
      return true;
    }
    if (!m_nothing_left_since) m_nothing_left_since = Clock::now();
    bool const changed = m_changes != m_pools.ledger.changes() || m_traffic != m_pools.traffic();
    return changed && Clock::now() < *m_nothing_left_since + pool_policy.patience_for_others;
  }

  void pause() {
    //~ failure 2a
    if (Clock::now() > m_deadline) {
      int const device = m_pools.retirement.device_at_work();
      m_path.refuse(
          "what is retired did not get ready within " + std::to_string(config().shortage_timeout) +
              " s" +
              (device < 0 ? std::string()
                          : ", for work of device " + std::to_string(device) + " does not end") +
              "; " + m_refusal.why,
          m_refusal.remedy);
    }
    std::this_thread::sleep_for(pool_policy.pause);
  }

  SlowPath const& m_path;
  Pools& m_pools = m_path.pools;
  std::size_t const m_least;
  Clock::time_point const m_deadline =
      Clock::now() + std::chrono::seconds(config().shortage_timeout);
  SlowPath::Refusal m_refusal;
  Retirement::Progress m_progress = Retirement::Progress::pending;
  Epoch m_epoch                   = 0;      ///< of the work that is waited for; 0: not chosen yet
  bool m_first_over               = false;  ///< the work that ran at first is over
  std::uint64_t m_changes         = 0;
  Traffic m_traffic               = {};
  bool m_retired                  = false;
  std::optional<Clock::time_point> m_nothing_left_since;
};

void* SlowPath::take_in_shortage(std::size_t least) const {
  std::size_t const in_groups = memory_of_cgroups().limit;
  if (request.bytes > in_groups || pools.traffic().in_use() > in_groups - request.bytes)
    refuse("with what is in use, that is more than the memory limit of the control group",
           "raise the memory limit of the job or container");
  return Shortage(*this, least).take();
}

// The pool would hold much more than was ever needed at once: takes from any heap and breaks up any
// block, else gives back what is too small. That waits for what the devices do, so as much is
// exchanged that it need not be done again for every request that is a little larger than the last;
// and what got ready meanwhile is neither given back nor taken if more can be locked, or each round
// of a steady pattern might wait.
void* take_by_exchange(SlowPath const& path, std::size_t& growth) {
  Pools& pools              = path.pools;
  std::size_t const wanted  = path.request.bytes;
  bool const idle           = pools.retirement.reach_all() == Retirement::Progress::done;
  auto const excess_if_more = [&](std::size_t bytes) {
    return pools.excess_over_peak(path.heap, bytes, wanted, Pools::RetiredIs::needed);
  };
  if (void* const memory = path.take_anywhere()) return memory;
  pools.settle();
  std::size_t const excess_now = excess_if_more(growth);
  // Beyond twice the need, ready memory that is kept for requests of other sizes is used, too.
  std::size_t const of_twice =
      pools.most_needed() - pools.most_needed() / pool_policy.slack_divisor;
  bool const often = pools.exchanges_often();
  if (excess_now > of_twice) {
    if (void* const memory = path.take_anywhere(SlowPath::Sizes::all, pool_policy.bytes_for_guests))
      return memory;
  } else if (often) {
    return nullptr;
  }
  //~ failure 24c
  if (excess_now == 0 || !pools.can_release({1, false})) return nullptr;
  if (!pools.retirement.wait_for_idle(pool_policy.patience_for_work)) return nullptr;

  // Give back, if exchanges are frequent, no more than what is beyond twice the need: it is soon wanted again.
  std::size_t const limit      = pools.ledger.limit();
  std::size_t const more       = limit > 0 ? 0 : wanted / pool_policy.slack_divisor;
  std::size_t const slack      = Heap::own_growth(wanted + more, limit);
  std::size_t const with_slack = often ? growth : std::max(growth, slack);
  std::size_t const spared     = often ? of_twice : 0;
  std::size_t const excess     = std::max(excess_if_more(with_slack), spared) - spared;
  Surplus surplus{excess, false};
  if (!idle) {
    surplus.bytes += pools.most_needed() / pool_policy.slack_divisor;
    surplus.below = wanted;
  }
  pools.note_exchange();
  if (pools.release_ready(surplus) < excess) return path.take_anywhere();
  growth = with_slack;
  return nullptr;
}

// Locks memory for this and later requests, unless another thread has done so meanwhile.
void* take_grown_in_turn(SlowPath const& path, std::size_t growth) {
  std::lock_guard const growing(path.heap.growing);
  if (path.heap.locked_bytes() > path.locked_before) {
    if (void* const memory = path.take(path.heap, Heap::Effort::carve)) return memory;
  }
  SlowPath::Refusal refusal;
  return path.take_grown(growth, refusal);
}

void* take_growing(SlowPath const& path, Pools::RetiredIs retired_is) {
  Heap& heap              = path.heap;
  std::size_t const least = Heap::least_growth(path.request.bytes);
  std::size_t const limit = path.pools.ledger.limit();
  std::size_t growth      = config().pool ? heap.good_growth(path.request.bytes, limit) : least;
  if (std::string const why = path.why_impossible(least); !why.empty())
    path.refuse(why, path.pools.raise_limit());
  if (path.pools.excess_over_peak(heap, growth, path.request.bytes, retired_is) > 0) {
    if (void* const memory = take_by_exchange(path, growth)) return memory;
  }
  SlowPath::Refusal refusal;
  void* const memory = growth > Heap::own_growth(path.request.bytes, limit)
                           ? take_grown_in_turn(path, growth)
                           : path.take_grown(growth, refusal);
  //~ failure 10
  return memory != nullptr ? memory : path.take_in_shortage(least);
}

// The block that begins on the page of an address; in a slab, the slot that contains the address.
inline Piece find(void const* pointer) noexcept {
  Pools* const pools = Pools::existing();
  Block* const block = pools != nullptr ? pools->pages.find(pointer) : nullptr;
  return block != nullptr ? piece_at(*block, pointer) : Piece();
}

// Memory with the bytes that its last owner left.
void* take_block(Pool::Request const& request) {
  if (request.bytes == 0) return nullptr;
  if (Pools::are_forbidden())
    Pools::refuse_in_child("'" + std::string(request.label) + "' cannot be allocated in " +
                           request.space);
  Pools& pools = Pools::instance();
  if (pools.some_wait()) pools.lock_waiting_unless_busy();
  // Only on idle devices: to give back waits for running work, which may wait for this thread.
  if (!config().pool &&
      pools.retirement.reach(pools.retirement.stamp()) == Retirement::Progress::done)
    pool::trim(0);
  NodePool& pool = pools.of(request.kind, request.numa_node);
  if (exceeds_memory(request.bytes))
    SlowPath{pools, pool, pool.common(), request}.refuse(more_than_can_be(request.bytes),
                                                         raise_limit_of_groups(request.bytes));
  auto entered = pool.enter(request.bytes);
  Heap& heap   = entered.heap;
  // A large request asks first: later, work submitted meanwhile would belong to the same epoch.
  Epoch epoch = request.bytes >= pool_policy.smallest_large ? heap.unknown() : 0;
  if (epoch == 0) {
    if (void* const memory = heap.take(request, Heap::Effort::reuse)) return memory;
    epoch = heap.awaited(request.bytes);
  }
  bool const ask =
      epoch != 0 && (pools.retirement.is_cheap() || !heap.asks_too_often(request.bytes));
  entered.lock.unlock();
  SlowPath const path{pools, pool, heap, request};
  if (ask) pools.retirement.reach(epoch);
  void* memory = path.take(heap, Heap::Effort::carve);
  if (memory == nullptr && &heap != &pool.large() && pool.large().reserved_bytes() > 0)
    memory = path.take(pool.large(), Heap::Effort::carve);
  if (memory == nullptr) {
    if (Heap* const host = pool.host_of_guest(request.bytes))
      memory = path.take(*host, Heap::Effort::break_up);
  }
  if (memory != nullptr) return memory;
  // A heap that was entered for its reserved memory does not grow.
  Heap& own = pool.is_for(request.bytes, heap) ? heap : pool.shared_for(request.bytes);
  SlowPath const growing{pools, pool, own, request};
  // Count retired memory as needed if the devices are not asked, because that brings little.
  return take_growing(growing,
                      epoch != 0 && !ask ? Pools::RetiredIs::needed : Pools::RetiredIs::ready);
}

// The first who takes the block: a stream of which alone it waits, its heap, the graphs that keep it.
void give_back(void* pointer, Pool::Stream const* only) noexcept {
  if (pointer == nullptr) return;
  Piece const found = find(pointer);
  //~ write during a copy
  if (found.header != nullptr && found.begin == pointer) {
    Pools& pools = *Pools::existing();
    Heap& heap   = *block_of(*found.header).segment->heap;
    if ((only != nullptr && pools.on_streams.give_back(heap, *found.header, *only)) ||
        heap.give_back(*found.header) || pools.retained.give_back(*found.header))
      return;
  }
  if (found.header == nullptr && is_forked_child()) return;  // its parent's
  std::fprintf(stderr,
               "KokkosHostSpaces: %p is not given back (the pool did not hand it out, or has it "
               "back already): look for a double free\n",
               pointer);
}

}  // namespace

void* Pool::allocate(Request const& request) {
  void* const memory = take_block(request);
  if (memory != nullptr && config().scrub)
    std::memset(memory, 0, std::min(request.bytes, dirty_bytes(memory)));
  return memory;
}

void Pool::lock_waiting() noexcept {
  if (Pools* const pools = Pools::existing()) pools->lock_waiting();
}

void Pool::deallocate(void* pointer) noexcept { give_back(pointer, nullptr); }

void Pool::deallocate_on(Stream const& stream, void* pointer) noexcept {
  give_back(pointer, &stream);
}

std::size_t Pool::dirty_bytes(void const* pointer) noexcept {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  Piece const found         = find(pointer);
  if (found.header == nullptr) return all;
  std::size_t dirty = 0;
  if (found.header->is_slot)
    dirty = std::exchange(found.header->is_zero, false) ? 0 : all;
  else
    dirty = std::exchange(static_cast<Block*>(found.header)->dirty, all);
  auto const before = static_cast<std::size_t>(static_cast<char const*>(pointer) - found.begin);
  return dirty > before ? dirty - before : 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend
