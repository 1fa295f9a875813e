// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/StreamResourcePool.hpp>

#include "../../../../backend/Driver.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

bool is_idle(StreamResources const& resources) {
  return !resources.taken &&
         (!resources.used || Driver::query(resources.done) == Driver::EventState::done);
}

}  // namespace

StreamResources::~StreamResources() {
  for (void* const event : events) Driver::release_event(event);
  Driver::release_event(begun);
  Driver::release_event(done);
  for (CopyStreams const& copies : {in, out}) {
    Driver::release_event(copies.turned);
    for (void* const stream : {copies.current, copies.other}) Driver::release_stream(stream);
  }
}

std::size_t StreamResourcePool::Device::held() const {
  std::size_t bytes = 0;
  for (Pointer const& each : resources) bytes += each->bytes;
  return bytes;
}

StreamResourcePool::Pointer StreamResourcePool::Device::take_smallest(std::size_t bytes,
                                                                      bool may_run) {
  Pointer best;
  for (Pointer const& each : resources) {
    if (each->taken || each->bytes < bytes || (!may_run && !is_idle(*each))) continue;
    if (best == nullptr || each->bytes < best->bytes) best = each;
  }
  if (best != nullptr) best->take();
  return best;
}

std::vector<StreamResourcePool::Pointer> StreamResourcePool::Device::extract_idle() {
  auto const idle = std::partition(resources.begin(), resources.end(),
                                   [](Pointer const& each) { return !is_idle(*each); });
  std::vector<Pointer> result(std::make_move_iterator(idle),
                              std::make_move_iterator(resources.end()));
  resources.erase(idle, resources.end());
  return result;
}

std::vector<StreamResourcePool::Pointer> StreamResourcePool::Device::running() const {
  std::vector<Pointer> result;
  for (Pointer const& each : resources)
    if (!each->taken) result.push_back(each);
  return result;
}

bool StreamResourcePool::Device::is_taken_by_this_thread() const {
  return std::any_of(resources.begin(), resources.end(), [](Pointer const& each) {
    return each->taken && each->taker == std::this_thread::get_id();
  });
}

StreamResourcePool::Device& StreamResourcePool::of(int device) {
  std::lock_guard const lock(m_mutex);
  return m_devices[device];
}

std::vector<StreamResourcePool::Pointer> StreamResourcePool::extract_idle(int device) {
  Device& pool = of(device);
  std::lock_guard const lock(pool.mutex);
  return pool.extract_idle();
}

StreamResourcePool::Pointer StreamResourcePool::take(int device, std::size_t bytes) {
  Device& pool = of(device);
  std::unique_lock lock(pool.mutex);
  while (true) {
    if (Pointer idle = pool.take_smallest(bytes, false)) return idle;
    if (pool.held() == 0 || pool.held() + bytes <= m_limit) break;
    std::vector<Pointer> others = pool.extract_idle();
    if (others.empty()) {
      if (Pointer running = pool.take_smallest(bytes, true)) return running;
      others = pool.running();
    }
    if (others.empty()) {  // threads have taken all
      if (pool.is_taken_by_this_thread())
        throw Error("a streamed loop on device " + std::to_string(device) +
                    " is started while the same thread starts another one there, as by the copy "
                    "constructor of its body, and both exceed the memory of streamed loops (it "
                    "would wait for itself): start one after the other, or allow more by "
                    "KOKKOS_HOST_SPACES_STREAM_MEMORY");
      pool.changed.wait(lock);
      continue;
    }
    lock.unlock();
    for (Pointer const& other : others)
      if (other->used && !Driver::wait(other->done))
        throw Error("device " + std::to_string(device) +
                    " failed while a streamed loop ran before this one (so its memory cannot be "
                    "used again): look for an error in that, compute-sanitizer finds it");
    others.clear();  // frees the memory of those that were idle
    lock.lock();
  }
  auto const made = std::make_shared<StreamResources>(device, bytes);
  pool.resources.push_back(made);
  lock.unlock();
  try {
    try {
      made->memory = m_allocator(device, bytes);
    } catch (Error const&) {
      if (extract_idle(device).empty()) throw;
      made->memory = m_allocator(device, bytes);
    }
  } catch (...) {
    drop(made);
    throw;
  }
  return made;
}

void StreamResourcePool::put_back(Pointer const& resources) noexcept {
  Device& pool = of(resources->device);
  std::lock_guard const lock(pool.mutex);
  resources->taken = false;
  pool.changed.notify_all();
}

void StreamResourcePool::drop(Pointer const& resources) noexcept {
  Device& pool = of(resources->device);
  std::lock_guard const lock(pool.mutex);
  std::erase(pool.resources, resources);
  pool.changed.notify_all();
}

void StreamResourcePool::release() {
  std::vector<int> devices;
  {
    std::lock_guard const lock(m_mutex);
    for (auto const& [device, pool] : m_devices) devices.push_back(device);
  }
  for (int const device : devices) extract_idle(device);
}

std::size_t StreamResourcePool::held() const {
  std::lock_guard const lock(m_mutex);
  std::size_t bytes = 0;
  for (auto const& [device, pool] : m_devices) {
    std::lock_guard const lock_device(pool.mutex);
    bytes += pool.held();
  }
  return bytes;
}

}  // namespace KokkosHostSpaces::Impl
