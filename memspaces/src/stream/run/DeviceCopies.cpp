// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>

#include "../../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

void* DeviceCopies::on_device(int device, void* stream, void const* host, std::size_t bytes) {
  std::lock_guard const lock(m_mutex);
  DeviceMemory& copy = m_copies[device];
  if (copy == nullptr) {
    auto made = m_allocator(device, bytes);
    // On the caller's stream, whose earlier work may be what fills the host's memory.
    if (bytes > 0) Driver::copy(made.get(), host, bytes, stream, device);
    Driver::fence(stream, device);
    copy = std::move(made);
  }
  return copy.get();
}

void DeviceCopies::forget() {
  std::lock_guard const lock(m_mutex);
  m_copies.clear();
}

}  // namespace KokkosHostSpaces::Impl
