// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Retirement.hpp"

#include "Policy.hpp"

#include "../os/Threads.hpp"

#include <algorithm>
#include <exception>
#include <thread>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr std::uint64_t bit(std::size_t device) { return std::uint64_t(1) << device; }

using Driver::Devices;

}  // namespace

// A read-modify-write, not a load: whoever closes this epoch synchronises with it, and so records
// all work that the caller had submitted.
Epoch Retirement::stamp() noexcept { return m_open.fetch_add(0, std::memory_order_acq_rel); }

void Retirement::complete(Epoch epoch) noexcept {
  Epoch known = m_completed.load(std::memory_order_relaxed);
  while (known < epoch &&
         !m_completed.compare_exchange_weak(known, epoch, std::memory_order_acq_rel)) {
  }
}

void Retirement::forget_oldest() noexcept {
  m_first = (m_first + 1) % m_ring.size();
  --m_count;
}

void Retirement::forget_what_is_over() noexcept {
  while (m_count > 0 && pending(0).epoch <= completed()) forget_oldest();
}

Retirement::Progress Retirement::close_epoch() noexcept {
  if (m_count == m_ring.size()) return Progress::pending;

  Epoch const epoch    = m_open.fetch_add(1, std::memory_order_acq_rel);
  Recording& recording = pending(m_count);
  if (m_unrecorded.epoch <= completed()) m_unrecorded = {epoch, Clock::now()};
  recording.epoch   = epoch;
  recording.since   = m_unrecorded.since;
  recording.devices = 0;
  m_cheap.store(false, std::memory_order_relaxed);
  auto const count =
      static_cast<std::size_t>(std::min(Driver::device_count(), Driver::max_devices));
  //~ wrong device b
  for (std::size_t device = 0; device < count; ++device) {
    //~ wrong device a
    switch (Driver::record_all_work(static_cast<int>(device), recording.events[device])) {
      case Driver::Recorded::yes: recording.devices |= bit(device); break;
      case Driver::Recorded::idle: break;
      case Driver::Recorded::capturing: return Progress::capturing;
      case Driver::Recorded::unsupported: return Progress::no_events;
      case Driver::Recorded::failed:
        Driver::release_event(recording.events[device]);
        recording.events[device] = nullptr;
        return Progress::pending;
    }
  }
  if (recording.devices == 0) {
    m_cheap.store(true, std::memory_order_relaxed);
    complete(epoch);
    return Progress::done;
  }
  ++m_count;
  m_unrecorded.epoch = 0;
  return Progress::pending;
}

Driver::EventState Retirement::ask(Recording& recording) noexcept {
  for (std::size_t device = 0; recording.devices != 0 && device < recording.events.size();
       ++device) {
    if ((recording.devices & bit(device)) == 0) continue;
    auto const state = Driver::query(recording.events[device]);
    if (state == Driver::EventState::done) {
      //~ missed event
      recording.devices &= ~bit(device);
      continue;
    }
    m_device_at_work.store(static_cast<int>(device), std::memory_order_relaxed);
    //~ early reuse c
    if (state == Driver::EventState::failed) {
      Driver::release_event(recording.events[device]);
      recording.events[device] = nullptr;
    }
    return state;
  }
  complete(recording.epoch);
  return Driver::EventState::done;
}

Retirement::Progress Retirement::ask_devices(Epoch epoch) noexcept {
  forget_what_is_over();
  if (epoch <= completed()) return Progress::done;  // another thread asked meanwhile
  Progress progress = Progress::pending;
  //~ failure 1b
  if (m_count == 0 || pending(m_count - 1).epoch < epoch) progress = close_epoch();
  // The newest first: on an idle device one question answers for all. One that is lost is
  // forgotten: a later recording covers its epoch.
  if (m_count > 1) {
    if (ask(pending(m_count - 1)) == Driver::EventState::failed) --m_count;
    forget_what_is_over();
  }
  while (m_count > 0) {
    auto const oldest = ask(pending(0));
    if (oldest == Driver::EventState::capturing && progress == Progress::pending)
      progress = Progress::capturing;
    if (oldest == Driver::EventState::capturing || oldest == Driver::EventState::pending) break;
    forget_oldest();
  }
  Recording const& oldest = m_count > 0 ? pending(0) : m_unrecorded;
  m_oldest_since          = oldest.since;
  m_oldest                = oldest.epoch;
  return epoch <= completed() ? Progress::done : progress;
}

Retirement::Progress Retirement::reach(Epoch epoch) noexcept {
  if (epoch <= completed()) return Progress::done;
  std::unique_lock lock(m_asking, std::try_to_lock);
  if (!lock.owns_lock()) {
    auto const deadline = Clock::now() + pool_policy.patience_for_asking;
    while (!lock.try_lock()) {
      if (epoch <= completed()) return Progress::done;
      if (Clock::now() > deadline) return Progress::busy;
      std::this_thread::yield();
    }
  }
  return ask_devices(epoch);
}

Retirement::Progress Retirement::reach_all() noexcept {
  Progress const progress = reach(stamp());
  bool const is_done =
      progress == Progress::no_events && wait_for_idle(pool_policy.patience_for_work);
  return is_done ? Progress::done : progress;
}

void Retirement::fence_devices() noexcept {
  Devices devices{};
  Epoch const epoch = m_open.fetch_add(1, std::memory_order_acq_rel);
  //~ early reuse d
  int const count   = Driver::devices_in_use(devices);
  bool const fenced = std::all_of(devices.begin(), devices.begin() + count, [this](int device) {
    m_device_at_work.store(device, std::memory_order_relaxed);
    return Driver::fence_device(device);
  });
  if (fenced) complete(epoch);
  std::lock_guard const lock(m_fencing);
  m_fence_runs   = false;
  m_fence_failed = !fenced;
  m_fence_ended.notify_all();
}

Retirement::Progress Retirement::fence(Epoch epoch, Clock::time_point deadline) noexcept {
  std::unique_lock lock(m_fencing);
  while (epoch > completed()) {
    if (!m_fence_runs) {
      try {
        //~ failure 2b
        start_thread([this] { fence_devices(); }).detach();
      } catch (std::exception const&) {
        return Progress::capturing;  // the system gives no thread
      }
      m_fence_runs = true;
    }
    bool const in_time = m_fence_ended.wait_until(lock, deadline, [this] { return !m_fence_runs; });
    if (epoch <= completed()) break;
    if (!in_time) return Progress::pending;
    if (m_fence_failed) return Progress::capturing;
  }
  return Progress::done;
}

bool Retirement::wait(Epoch epoch, Clock::time_point deadline) noexcept {
  // Polls: an event that a thread waits for could not be recorded again by another.
  for (;;) {
    switch (reach(epoch)) {
      case Progress::done: return true;
      case Progress::pending:
      case Progress::busy:
        if (Clock::now() > deadline) return false;
        std::this_thread::sleep_for(pool_policy.pause);
        break;
      case Progress::capturing: return false;
      case Progress::no_events: return fence(epoch, deadline) == Progress::done;
    }
  }
}

bool Retirement::wait_for_idle(Clock::duration timeout) noexcept {
  if (!wait(m_last_timed_out_epoch.load(std::memory_order_relaxed), Clock::now())) return false;
  auto const deadline = Clock::now() + timeout;
  for (int i = 0; i < 2; ++i) {
    Epoch const epoch = stamp();
    if (wait(epoch, deadline)) continue;
    // A capture says nothing about work that does not end.
    if (Clock::now() > deadline) m_last_timed_out_epoch.store(epoch, std::memory_order_relaxed);
    return false;
  }
  return true;
}

void Retirement::release_events() noexcept {
  std::lock_guard const lock(m_asking);
  m_count = 0;
  for (Recording& recording : m_ring) {
    for (Driver::Event& event : recording.events) {
      if (event != nullptr) Driver::release_event(event);
      event = nullptr;
    }
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend
