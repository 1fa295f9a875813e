// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/StreamTurns.hpp>

#include "../../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

StreamTurns::~StreamTurns() {
  Driver::release_event(m_turned);
  Driver::release_event(m_left);
  for (void* const stream : m_streams) Driver::release_stream(stream);
}

void StreamTurns::start(void* behind, std::size_t turn) {
  for (void*& stream : m_streams)
    if (stream == nullptr) stream = Driver::make_stream(m_device);
  m_turn   = turn;
  m_copied = 0;
  m_marked = false;
  join();
  Driver::make_wait(stream(), behind, m_device);
}

void StreamTurns::copy(void* dst, void const* src, std::size_t bytes) {
  if (m_copied >= m_turn) give_way();
  m_marked = m_copied > 0 && m_copied + bytes >= m_turn;
  if (m_marked) Driver::record(m_turned, stream(), m_device);
  Driver::copy(dst, src, bytes, stream());
  m_copied += bytes;
  join();
}

void StreamTurns::give_way() {
  Driver::record(m_marked ? m_left : m_turned, stream(), m_device);
  m_joins  = m_marked;
  m_marked = false;
  m_at     = 1 - m_at;
  m_copied = 0;
  Driver::make_wait(stream(), m_turned, m_device);
}

void StreamTurns::join() {
  if (!m_joins) return;
  Driver::make_wait(stream(), m_left, m_device);
  m_joins = false;
}

void StreamTurns::wait(void* event) {
  if (m_copied >= m_turn) give_way();  // or it would bind the stream that is left
  Driver::make_wait(stream(), event, m_device);
}

void StreamTurns::record(void*& event) {
  join();
  Driver::record(event, stream(), m_device);
}

void StreamTurns::drain() noexcept {
  for (void* const stream : m_streams) {
    try {
      if (stream != nullptr) Driver::fence(stream);
    } catch (CudaError const&) {  // of the same origin as what was told
    }
  }
}

}  // namespace KokkosHostSpaces::Impl
