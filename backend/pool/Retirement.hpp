// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// When may deallocated memory be used again? Time is cut into epochs. A deallocation stamps the block
// with the open epoch. Recording an event of all work on each device closes the open epoch; when the
// events are done, that epoch and all before it are over, and so is the work that could touch their
// blocks. One event thus serves all blocks of an epoch, and a block is ready if its epoch <= completed().
//
// Nothing is lost when a recording fails or a stream captures: the closed epoch has no event of its
// own then, and is covered by the next recording that succeeds. An error never ends an epoch.
//
// Recording waits while another thread registers memory. So one thread at a time asks the devices,
// without any lock that allocations need; other threads get `busy`. stamp() and completed() take no
// lock.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_RETIREMENT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_RETIREMENT_HPP

#include "../Driver.hpp"
#include "Block.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace KokkosHostSpaces::Impl::Backend {

class Retirement {
 public:
  /// The open epoch: the stamp of a deallocation. It contains all work that the caller knows of.
  Epoch stamp() noexcept;

  /// The newest epoch that is over.
  Epoch completed() const noexcept { return m_completed.load(std::memory_order_acquire); }

  /// True if no device was in use at the last recording: asking then costs almost nothing.
  bool is_cheap() const noexcept { return m_cheap.load(std::memory_order_relaxed); }

  enum class Progress {
    done,       ///< the epoch is over
    pending,    ///< device work of the epoch still runs, or the driver failed to tell
    capturing,  ///< a stream captures: nothing can be recorded or asked
    no_events,  ///< there are no events (CUDA < 12.5): only fence() tells
    busy        ///< another thread is asking
  };

  /// Asks the devices whether `epoch` is over; records if it has no event yet. Waits for no device, but
  /// perhaps for the driver, and at most 50 us for another thread that asks.
  Progress reach(Epoch epoch) noexcept;

  /// The same for all that was given back so far. Without events it waits a second at most, as
  /// wait_for_idle: else memory would never be ready, and the pool grow for ever.
  Progress reach_all() noexcept;

  using Clock = std::chrono::steady_clock;

  /// For devices without events: waits for all their work, at most until `deadline`. Such a wait has
  /// no limit in CUDA, so a thread of ours makes it, one at a time, which may outlast the call.
  /// Returns done, pending, or capturing (a stream captures, or an error).
  Progress fence(Epoch epoch, Clock::time_point deadline) noexcept;

  /// Waits until `epoch` is over, at most until `deadline`; false if it is not.
  bool wait(Epoch epoch, Clock::time_point deadline) noexcept;

  /// Waits for what runs, and then for what was submitted meanwhile; false if that takes longer than
  /// `timeout`, or if the last such wait that ended in vain was for what is not over yet.
  bool wait_for_idle(Clock::duration timeout) noexcept;

  /// The device whose work was seen to run last; -1 if none was.
  int device_at_work() const noexcept { return m_device_at_work.load(std::memory_order_relaxed); }

  /// The time at which the oldest epoch was closed that was not over at the last question; max() if all
  /// were.
  Clock::time_point oldest() const noexcept {
    return m_oldest > completed() ? m_oldest_since.load() : Clock::time_point::max();
  }

  /// Gives the events back to the runtime.
  void release_events() noexcept;

 private:
  struct Recording {
    Epoch epoch = 0;
    Clock::time_point since{};  ///< closed, or the first epoch without events that it covers was
    std::uint64_t devices = 0;  ///< bit d: events[d] is recorded and was not seen done
    std::array<Driver::Event, Driver::max_devices> events{};
  };

  // With m_asking held.
  Progress ask_devices(Epoch epoch) noexcept;
  Progress close_epoch() noexcept;
  Driver::EventState ask(Recording& recording) noexcept;
  void forget_what_is_over() noexcept;
  void forget_oldest() noexcept;
  Recording& pending(std::size_t i) noexcept { return m_ring[(m_first + i) % m_ring.size()]; }

  void complete(Epoch epoch) noexcept;
  void fence_devices() noexcept;

  alignas(64) std::atomic<Epoch> m_open{1};
  alignas(64) std::atomic<Epoch> m_completed{0};
  std::atomic<bool> m_cheap{false};
  std::atomic<int> m_device_at_work{-1};
  std::atomic<Epoch> m_last_timed_out_epoch{0};  ///< of wait_for_idle

  // The recordings, oldest first. Slots keep their events and record them again: in steady state no
  // event is made or destroyed. While the ring is full nothing is recorded; a later recording covers
  // these epochs.
  std::mutex m_asking;
  std::array<Recording, 64> m_ring{};
  std::size_t m_first = 0;
  std::size_t m_count = 0;
  Recording m_unrecorded{};  ///< the first closed epoch that no event covers; over or 0: none
  std::atomic<Epoch> m_oldest{0};
  std::atomic<Clock::time_point> m_oldest_since{Clock::time_point{}};

  std::mutex m_fencing;
  std::condition_variable m_fence_ended;
  bool m_fence_runs   = false;
  bool m_fence_failed = false;  ///< the last one
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
