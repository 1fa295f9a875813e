// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "SlowPath.hpp"

#include "../Config.hpp"
#include "../Error.hpp"
#include "../os/Pages.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

using Clock = Retirement::Clock;

std::string in_bytes(std::size_t count) { return std::to_string(count) + " bytes"; }

std::size_t bytes_in_use(Pools& pools) {
  std::size_t sum = 0;
  pools.for_each_heap([&](Heap const& heap) { sum += heap.in_use_bytes(); });
  return sum;
}

}  // namespace

void* SlowPath::take(Heap& from, Heap::Effort effort) const {
  constexpr std::size_t at_once = 256;
  Epoch const over              = pools.retirement.completed();
  for (;;) {
    std::lock_guard const lock(from.mutex);
    if (void* const memory = from.take(request, effort)) return memory;
    if (!from.settle(over, at_once)) return nullptr;
  }
}

void* SlowPath::take_anywhere() const {
  for (Heap& other : pool.heaps) {
    if (other.locked_bytes() == 0) continue;
    void* const memory = take(other, Heap::Effort::break_up);
    if (memory == nullptr) continue;
    pool.prefer(other);
    return memory;
  }
  return nullptr;
}

void* SlowPath::take_grown(std::size_t bytes, Refusal& refusal) const {
  try {
    auto const lock = pools.grow(pool, heap, bytes, request.bytes);
    return heap.take(request, Heap::Effort::break_up);
  } catch (LimitReached const& error) {
    refusal = {error.what(), false};
  } catch (OutOfPinnedMemory const& error) {
    refusal = {error.what(), true};
  }
  return nullptr;
}

std::string SlowPath::why_impossible(std::size_t least) const {
  std::size_t const limit = pools.ledger.limit();
  if (limit == 0) return "";
  // What is locked already may get ready and serve, even where a new segment would be too much.
  std::size_t const locked = pools.ledger.locked();
  if (least > limit && request.bytes > locked)
    return "the pool needs " + in_bytes(least) + " for it, which is more than its limit";
  return bytes_in_use(pools) > std::max(limit, locked) - request.bytes
             ? "with what is in use, that is more than the limit of the pool"
             : "";
}

void SlowPath::refuse(std::string const& why) const {
  pool::Statistics const now = pool::statistics();
  throw OutOfPinnedMemory(
      "'" + std::string(request.label) + "' in the space " + request.space + " cannot have " +
      in_bytes(request.bytes) + " (" + why + "; in use " + in_bytes(now.total.bytes_in_use) +
      ", cached " + in_bytes(now.total.bytes_cached) + ", retired " +
      in_bytes(now.total.bytes_retired) + ", limit of the pool " +
      (now.limit == 0 ? "none" : in_bytes(now.limit)) + ", RLIMIT_MEMLOCK " +
      locked_memory_limit() +
      "): destroy what is not needed, ask for less, or raise KOKKOS_HOST_SPACES_POOL_LIMIT, the "
      "memory limit of the job or ulimit -l");
}

namespace {

// What a shortage has learnt, and how long it goes on.
class Shortage {
 public:
  Shortage(SlowPath const& attempt, std::size_t least) : m_attempt(attempt), m_least(least) {}

  void* take() {
    for (;;) {
      look();
      if (void* const memory = m_attempt.take_anywhere()) return memory;
      if (void* const memory = m_attempt.take_grown(m_least, m_refusal)) return memory;
      if (m_refusal.is_of_system) ++m_changes;  // by this attempt itself, which came and went
      // What is on its way may be what is missing.
      if (m_pools.ledger.in_transit()) {
        pause();
        continue;
      }
      std::unique_lock const role(m_pools.making_room, std::try_to_lock);
      if (role.owns_lock() && old_work_is_over()) {
        if (void* const memory = m_attempt.take_anywhere()) return memory;
        if (give_back_ready()) continue;
      }
      pause();
    }
  }

 private:
  // Giving back waits for all that runs, which may never end: so all that ran is over, and what was
  // submitted meanwhile as well.
  bool old_work_is_over() {
    using Progress = Retirement::Progress;
    do {
      if (m_epoch == 0) m_epoch = m_pools.retirement.stamp();
      m_progress = m_pools.retirement.reach(m_epoch);
      if (m_progress == Progress::pending || m_progress == Progress::busy) return false;
      if (m_progress == Progress::blind && !m_pools.retirement.fence())
        m_progress = Progress::capturing;
      m_epoch      = 0;
      m_first_over = !m_first_over;
    } while (m_first_over);
    return true;
  }

  // False if there is nothing to give back, but others are at work.
  bool give_back_ready() {
    std::size_t const excess = m_pools.ledger.excess(m_least);
    // Where the system refuses, nobody knows how much is missing.
    if (m_pools.release_ready({excess == 0 ? m_least : excess}) > 0) return true;
    if (m_progress == Retirement::Progress::capturing || !others_are_at_work())
      m_attempt.refuse(m_refusal.why);
    return false;
  }

  void look() {
    m_changes = m_pools.ledger.changes();
    m_in_use  = bytes_in_use(m_pools);
    m_retired = m_pools.needed_bytes() > m_in_use;
  }

  // Has anything changed since the last look, or is anything retired, or was so, and is ready now?
  bool others_are_at_work() {
    constexpr std::chrono::seconds patience(1);
    if (m_retired || m_pools.needed_bytes() > bytes_in_use(m_pools)) {
      m_nothing_left_since.reset();
      return true;
    }
    if (!m_nothing_left_since) m_nothing_left_since = Clock::now();
    bool const changed = m_changes != m_pools.ledger.changes() || m_in_use != bytes_in_use(m_pools);
    return changed && Clock::now() < *m_nothing_left_since + patience;
  }

  void pause() {
    constexpr std::chrono::microseconds while_others_work(50);
    if (Clock::now() > m_deadline) {
      int const device = m_pools.retirement.device_at_work();
      m_attempt.refuse("what is retired did not get ready within " +
                       std::to_string(config().shortage_timeout) + " s" +
                       (device < 0
                            ? std::string()
                            : ", for work of device " + std::to_string(device) + " does not end") +
                       "; " + m_refusal.why);
    }
    std::this_thread::sleep_for(while_others_work);
  }

  SlowPath const& m_attempt;
  Pools& m_pools = m_attempt.pools;
  std::size_t const m_least;
  Clock::time_point const m_deadline =
      Clock::now() + std::chrono::seconds(config().shortage_timeout);
  SlowPath::Refusal m_refusal;
  Retirement::Progress m_progress = Retirement::Progress::pending;
  Epoch m_epoch                   = 0;  ///< when this is over, giving back waits for nothing old
  bool m_first_over               = false;  ///< what ran at first is over
  std::uint64_t m_changes         = 0;
  std::size_t m_in_use            = 0;
  bool m_retired                  = false;
  std::optional<Clock::time_point> m_nothing_left_since;
};

}  // namespace

void* SlowPath::take_in_shortage(std::size_t least) const { return Shortage(*this, least).take(); }

}  // namespace KokkosHostSpaces::Impl::Backend
