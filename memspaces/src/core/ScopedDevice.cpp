// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/ScopedDevice.hpp>

#include "../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

ScopedDevice::ScopedDevice(void* stream, int device) noexcept {
  if (!Driver::is_default_stream(stream)) return;
  int const current = Driver::current_device();
  if (current == device) return;
  Driver::use_device(device);
  m_before = current;
}

ScopedDevice::~ScopedDevice() {
  if (m_before >= 0) Driver::use_device(m_before);
}

}  // namespace KokkosHostSpaces::Impl
