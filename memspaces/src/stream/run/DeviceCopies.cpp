// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>

#include "../../../../backend/Driver.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

DeviceCopies::Copy::~Copy() { Driver::release_event(arrival); }

void* DeviceCopies::on_device(int device, void* stream, void const* host, std::size_t bytes) {
  std::unique_lock lock(m_mutex);
  Copy& copy = m_copies[device];
  lock.unlock();
  std::lock_guard const lock_copy(copy.mutex);
  if (copy.memory == nullptr) {
    DeviceMemory made = m_allocator(device, bytes);
    // On the caller's stream, whose earlier work may write the host's memory.
    if (bytes > 0) Driver::copy(made.get(), host, bytes, stream, device);
    Driver::record(copy.arrival, stream, device);
    copy.memory = std::move(made);
  } else if (copy.arrival != nullptr) {
    if (Driver::query(copy.arrival) == Driver::EventState::done)
      Driver::release_event(std::exchange(copy.arrival, nullptr));
    else
      Driver::make_wait(stream, copy.arrival, device);
  }
  return copy.memory.get();
}

bool DeviceCopies::are_stale(void const* host, std::size_t bytes) {
  std::size_t const hash =
      std::hash<std::string_view>()({static_cast<char const*>(host), host == nullptr ? 0 : bytes});
  std::lock_guard const lock(m_mutex);
  if (!m_hash) m_hash = hash;
  return *m_hash != hash;
}

void DeviceCopies::forget() {
  std::vector<Copy*> copies;
  {
    std::lock_guard const lock(m_mutex);
    m_hash.reset();
    for (auto& [device, copy] : m_copies) copies.push_back(&copy);
  }
  for (Copy* const copy : copies) {
    DeviceMemory memory;  // freed, which may wait, without the lock
    std::lock_guard const lock(copy->mutex);
    memory.swap(copy->memory);
  }
}

}  // namespace KokkosHostSpaces::Impl
