// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamTurns.hpp>

#include "../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

StreamTurns::~StreamTurns() {
  for (Operation const& operation : m_latest) {
    Driver::release_event(operation.admits_next);
    Driver::release_event(operation.ends);
  }
}

void StreamTurns::start(StreamSet::Pair const& streams, void* behind, bool gives_way) {
  m_streams = streams;
  m_used    = gives_way ? most : 1;
  m_number  = 0;
  m_ended   = true;
  for (std::size_t s = 0; s < m_used; ++s) Driver::make_wait(m_streams[s], behind, m_device);
}

void StreamTurns::begin() {
  if (!m_ended) return;
  m_ended = false;
  ++m_number;
  if (m_used > 1 && m_number > 1) Driver::make_wait(stream(), one_before().admits_next, m_device);
}

void StreamTurns::copy(void* dst, void const* src, std::size_t bytes) {
  begin();
  Driver::copy(dst, src, bytes, stream());
}

// In two parts, so that the next operation can be ready when this one is done.
void StreamTurns::last_copy(void* dst, void const* src, std::size_t bytes) {
  std::size_t const first = m_used > 1 ? bytes / 2 : 0;
  if (first > 0) copy(dst, src, first);
  begin();
  if (m_used > 1) Driver::record(latest().admits_next, stream(), m_device);
  copy(static_cast<char*>(dst) + first, static_cast<char const*>(src) + first, bytes - first);
  end();
}

// So that what is recorded from now on is behind the operations on the other stream, too.
void StreamTurns::end() {
  m_ended = true;
  if (m_used == 1) return;
  if (m_number > 1) Driver::make_wait(stream(), one_before().ends, m_device);
  Driver::record(latest().ends, stream(), m_device);
}

// What comes after the next operation waits for that.
void StreamTurns::wait(void* event) {
  Driver::make_wait(m_streams[(m_number + 1) % m_used], event, m_device);
}

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
