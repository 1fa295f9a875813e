// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamTurns.hpp>

#include "../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

StreamTurns::~StreamTurns() {
  Driver::release_event(m_turned);
  for (void* const stream : m_streams) Driver::release_stream(stream);
}

void StreamTurns::start(void* behind, std::size_t turn) {
  for (void*& stream : m_streams)
    if (stream == nullptr) stream = Driver::make_stream(m_device);
  m_turn   = turn;
  m_copied = 0;
  Driver::make_wait(stream(), behind, m_device);
}

void StreamTurns::copy(void* dst, void const* src, std::size_t bytes) {
  if (m_copied >= m_turn) give_way();
  Driver::copy(dst, src, bytes, stream());
  m_copied += bytes;
}

void StreamTurns::give_way() {
  Driver::record(m_turned, stream(), m_device);
  m_at     = 1 - m_at;
  m_copied = 0;
  Driver::make_wait(stream(), m_turned, m_device);
}

void StreamTurns::wait(void* event) { Driver::make_wait(stream(), event, m_device); }

void StreamTurns::record(void*& event) { Driver::record(event, stream(), m_device); }

void StreamTurns::drain() noexcept {
  for (void* const stream : m_streams) {
    try {
      if (stream != nullptr) Driver::fence(stream);
    } catch (CudaError const&) {  // of the same origin as what was told
    }
  }
}

}  // namespace KokkosHostSpaces::Impl
