// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/YieldingStream.hpp>

#include "../../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

YieldingStream::~YieldingStream() {
  Driver::release_event(m_yielded);
  for (void* const stream : m_streams) Driver::release_stream(stream);
}

void YieldingStream::begin(void* behind, std::size_t yields_after) {
  for (void*& stream : m_streams)
    if (stream == nullptr) stream = Driver::make_stream(m_device);
  m_yields_after = yields_after;
  m_copied       = 0;
  wait(behind);
}

void YieldingStream::copy(void* dst, void const* src, std::size_t bytes) {
  if (m_copied >= m_yields_after) {
    Driver::record(m_yielded, stream(), m_device);
    m_current = 1 - m_current;
    Driver::make_wait(stream(), m_yielded, m_device);
    m_copied = 0;
  }
  Driver::copy(dst, src, bytes, stream());
  m_copied += bytes;
}

void YieldingStream::wait(void* event) { Driver::make_wait(stream(), event, m_device); }

void YieldingStream::record(void*& event) { Driver::record(event, stream(), m_device); }

void YieldingStream::drain() noexcept {
  for (void* const stream : m_streams) {
    try {
      if (stream != nullptr) Driver::fence(stream);
    } catch (DeviceError const&) {  // has the cause of the error that is being reported
    }
  }
}

}  // namespace KokkosHostSpaces::Impl
