// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// When is freed memory free? Time is cut into epochs. A block is stamped with the open epoch when
// it is given back. Recording an event of all work on each device closes the open epoch; when the
// events are done, that epoch and all before it are over, and so is the work that could touch their
// blocks. One event thus serves all blocks that were given back together, and a block's state is
// one comparison of numbers.
//
// Nothing is lost when a recording fails or a stream captures: the closed epoch has no event of its
// own then, and is covered by the next recording that succeeds. An error never ends an epoch.
//
// The driver may keep whoever records waiting, for as long as another thread registers memory. So
// one thread at a time asks the devices, and no lock that others need is held meanwhile: they are
// told `busy`. Stamps and what is over are read without any lock.

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
  /// The epoch in which something is given back now. Work which the caller knows of is part of it.
  Epoch stamp() noexcept;

  /// The newest epoch that is over.
  Epoch completed() const noexcept { return m_completed.load(std::memory_order_acquire); }

  /// No device was in use when this was found out last: asking costs next to nothing.
  bool is_cheap() const noexcept { return m_cheap.load(std::memory_order_relaxed); }

  enum class Progress {
    done,       ///< the epoch is over
    pending,    ///< device work of the epoch still runs, or the driver failed to tell
    capturing,  ///< a stream captures: nothing can be recorded or asked
    blind,      ///< there are no events (CUDA < 12.5): only fence() tells
    busy        ///< another thread is asking
  };

  /// Finds out how far the devices are, recording if `epoch` has no event yet. Waits for no device,
  /// but perhaps for the driver; for another thread that asks only as long as growing would take.
  Progress reach(Epoch epoch) noexcept;

  /// The same for all that was given back so far. Without events it waits a second at most, as
  /// wait_if_it_ends: else memory would never be ready, and the pool grow for ever.
  Progress reach_all() noexcept;

  using Clock = std::chrono::steady_clock;

  /// For devices without events: waits for all their work, at most until `deadline`. Such a wait has
  /// no limit in CUDA, so a thread of ours makes it, one at a time, which may outlast the call.
  /// Returns done, pending, or capturing (a stream captures, or an error).
  Progress fence(Epoch epoch, Clock::time_point deadline) noexcept;

  /// Waits until `epoch` is over, at most until `deadline`; false if it is not.
  bool wait(Epoch epoch, Clock::time_point deadline) noexcept;

  /// Waits for what runs, and then for what was submitted meanwhile; false if that takes longer than
  /// `most`, or if the last such wait that ended in vain was for what is not over yet.
  bool wait_if_it_ends(Clock::duration most) noexcept;

  /// The device whose work was seen to run last; -1 if none was.
  int device_at_work() const noexcept { return m_device_at_work.load(std::memory_order_relaxed); }

  /// Gives the events back to the runtime.
  void release_events() noexcept;

 private:
  struct Recording {
    Epoch epoch           = 0;
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
  std::atomic<Epoch> m_waited_in_vain{0};  ///< for this one

  // The recordings, oldest first. A slot retained its events and records them again: none is made or
  // destroyed in steady state. When the ring is full, epochs are left to a later recording.
  std::mutex m_asking;
  std::array<Recording, 64> m_ring{};
  std::size_t m_first = 0;
  std::size_t m_count = 0;

  std::mutex m_fencing;
  std::condition_variable m_fence_ended;
  bool m_fence_runs   = false;
  bool m_fence_failed = false;  ///< the last one
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
