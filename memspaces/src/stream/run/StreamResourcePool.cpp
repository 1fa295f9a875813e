// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/StreamResourcePool.hpp>

#include "../../../../backend/Driver.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

bool is_done(StreamResources const& lane) {
  return !lane.used || Driver::query(lane.done) == Driver::EventState::done;
}

void mark_taken(StreamResources& lane) {
  lane.taken = true;
  lane.taker = std::this_thread::get_id();
}

}  // namespace

StreamResources::~StreamResources() {
  for (void* const event : events) Driver::release_event(event);
  Driver::release_event(begun);
  Driver::release_event(done);
}

std::size_t StreamResourcePool::held_on(int device) const {
  std::size_t bytes = 0;
  for (auto const& lane : m_lanes)
    if (lane->device == device) bytes += lane->bytes;
  return bytes;
}

std::size_t StreamResourcePool::held() const {
  std::lock_guard const lock(m_mutex);
  std::size_t bytes = 0;
  for (auto const& lane : m_lanes) bytes += lane->bytes;
  return bytes;
}

// The smallest one that is large enough.
std::shared_ptr<StreamResources> StreamResourcePool::find(int device, std::size_t bytes,
                                                          bool may_run) {
  std::shared_ptr<StreamResources> best;
  for (auto const& lane : m_lanes) {
    if (lane->device != device || lane->bytes < bytes || lane->taken) continue;
    if (!may_run && !is_done(*lane)) continue;
    if (best == nullptr || lane->bytes < best->bytes) best = lane;
  }
  if (best != nullptr) mark_taken(*best);
  return best;
}

// Whether any was.
bool StreamResourcePool::release_unused(int device) {
  return std::erase_if(m_lanes, [&](auto const& lane) {
           return lane->device == device && !lane->taken && is_done(*lane);
         }) > 0;
}

// Whether some are still being enqueued.
bool StreamResourcePool::wait_for_loops(int device) const {
  bool others = false;
  for (auto const& lane : m_lanes) {
    if (lane->device != device) continue;
    others |= lane->taken;
    if (!lane->taken && lane->used && !Driver::wait(lane->done))
      throw Error("device " + std::to_string(device) +
                  " failed while a streamed loop ran before this one (so its memory cannot be used "
                  "again): look for an error in that, compute-sanitizer finds it");
  }
  return others;
}

// A loop that is called while a loop is enqueued, as by a body's copy constructor.
bool StreamResourcePool::is_nested(int device) const {
  return std::any_of(m_lanes.begin(), m_lanes.end(), [&](auto const& lane) {
    return lane->taken && lane->device >= device && lane->taker == std::this_thread::get_id();
  });
}

// What is kept for later loops may be what is missing.
DeviceMemory StreamResourcePool::allocate(int device, std::size_t bytes) {
  try {
    return m_allocator(device, bytes);
  } catch (Error const&) {
    if (!release_unused(device)) throw;
  }
  return m_allocator(device, bytes);
}

// Under one lock: a second thread that allocates device memory would have to wait anyhow.
std::shared_ptr<StreamResources> StreamResourcePool::take(int device, std::size_t bytes) {
  std::unique_lock lock(m_mutex);
  auto const full = [&] { return held_on(device) > 0 && held_on(device) + bytes > m_limit; };
  while (true) {
    if (auto lane = find(device, bytes, false)) return lane;
    if (full()) release_unused(device);
    if (!full()) break;
    if (auto lane = find(device, bytes, true)) return lane;
    bool const others = wait_for_loops(device);
    release_unused(device);
    if (!full() || is_nested(device)) break;
    // The rest is with threads that enqueue now, each for one loop.
    if (others) m_put_back.wait(lock);
  }
  auto lane = std::make_shared<StreamResources>(device, allocate(device, bytes), bytes);
  mark_taken(*lane);
  m_lanes.push_back(lane);
  return lane;
}

void StreamResourcePool::put_back(std::shared_ptr<StreamResources> const& lane) noexcept {
  std::lock_guard const lock(m_mutex);
  lane->taken = false;
  m_put_back.notify_all();
}

void StreamResourcePool::drop(std::shared_ptr<StreamResources> const& lane) noexcept {
  std::lock_guard const lock(m_mutex);
  std::erase(m_lanes, lane);
  m_put_back.notify_all();
}

void StreamResourcePool::release() {
  std::lock_guard const lock(m_mutex);
  std::erase_if(m_lanes, [](auto const& lane) { return !lane->taken && is_done(*lane); });
}

}  // namespace KokkosHostSpaces::Impl
