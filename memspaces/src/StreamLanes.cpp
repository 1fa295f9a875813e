// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamLanes.hpp>

#include "../../backend/Driver.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

bool is_done(StreamLane const& lane) {
  return !lane.used || Driver::query(lane.done) == Driver::EventState::done;
}

}  // namespace

StreamLane::~StreamLane() {
  for (void* const event : events) Driver::release_event(event);
  Driver::release_event(begun);
  Driver::release_event(done);
}

std::size_t StreamLanes::held_on(int device) const {
  std::size_t bytes = 0;
  for (auto const& lane : m_lanes)
    if (lane->device == device) bytes += lane->bytes;
  return bytes;
}

std::size_t StreamLanes::held() const {
  std::lock_guard const lock(m_mutex);
  std::size_t bytes = 0;
  for (auto const& lane : m_lanes) bytes += lane->bytes;
  return bytes;
}

// The smallest one that is large enough.
std::shared_ptr<StreamLane> StreamLanes::find(int device, std::size_t bytes, bool may_run) {
  std::shared_ptr<StreamLane> best;
  for (auto const& lane : m_lanes) {
    if (lane->device != device || lane->bytes < bytes || lane->taken) continue;
    if (!may_run && !is_done(*lane)) continue;
    if (best == nullptr || lane->bytes < best->bytes) best = lane;
  }
  if (best != nullptr) best->taken = true;
  return best;
}

void StreamLanes::release_unused(int device) {
  std::erase_if(m_lanes, [&](auto& lane) {
    if (lane->device != device || lane->taken || !is_done(*lane)) return false;
    m_stock.put_back(std::move(lane->streams));
    return true;
  });
}

// Under one lock: a second thread that allocates device memory would have to wait anyhow.
std::shared_ptr<StreamLane> StreamLanes::take(int device, std::size_t bytes) {
  std::unique_lock lock(m_mutex);
  auto lane = take(lock, device, bytes);
  choose_queues(*lane);
  return lane;
}

std::shared_ptr<StreamLane> StreamLanes::take(std::unique_lock<std::mutex>& lock, int device,
                                              std::size_t bytes) {
  auto const full = [&] { return held_on(device) > 0 && held_on(device) + bytes > m_limit; };
  while (true) {
    if (auto lane = find(device, bytes, false)) return lane;
    if (full()) release_unused(device);
    if (!full()) break;
    if (auto lane = find(device, bytes, true)) return lane;
    for (auto const& lane : m_lanes)
      if (lane->device == device && !lane->taken && lane->used) Driver::wait(lane->done);
    release_unused(device);
    if (!full()) break;
    // All is with threads that enqueue now, each for one loop.
    m_put_back.wait(lock);
  }
  auto lane   = make(device, bytes);
  lane->taken = true;
  m_lanes.push_back(lane);
  return lane;
}

std::shared_ptr<StreamLane> StreamLanes::make(int device, std::size_t bytes) {
  auto lane     = std::make_shared<StreamLane>(device, m_allocator(device, bytes), bytes);
  lane->streams = m_stock.take(device, lane->memory.get(), lane->done);
  lane->used    = lane->done != nullptr;
  return lane;
}

// Those that fewer of the loops have which run now.
void StreamLanes::choose_queues(StreamLane& lane) {
  std::array<int, 2> loops{};
  auto const runs = [](StreamLane const& other) { return other.taken || !is_done(other); };
  for (auto const& other : m_lanes)
    if (other.get() != &lane && other->device == lane.device && runs(*other))
      ++loops[other->streams->queues];
  std::size_t const own = lane.streams->queues;
  if (loops[own] <= loops[1 - own] || m_stock.exchange_for_other_queues(lane.streams)) return;
  for (auto const& other : m_lanes) {
    if (other->device != lane.device || other->streams->queues == own || runs(*other)) continue;
    other->streams.swap(lane.streams);
    return;
  }
}

void StreamLanes::put_back(std::shared_ptr<StreamLane> const& lane) noexcept {
  std::lock_guard const lock(m_mutex);
  lane->taken = false;
  m_put_back.notify_all();
}

void StreamLanes::drop(std::shared_ptr<StreamLane> const& lane) noexcept {
  std::lock_guard const lock(m_mutex);
  std::erase(m_lanes, lane);
  m_put_back.notify_all();
}

void StreamLanes::release() {
  std::lock_guard const lock(m_mutex);
  std::erase_if(m_lanes, [](auto const& lane) { return !lane->taken && is_done(*lane); });
  m_stock.release();
}

}  // namespace KokkosHostSpaces::Impl
