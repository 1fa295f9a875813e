// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamTurns.hpp>

#include "../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

StreamTurns::~StreamTurns() {
  for (void* const event : m_ends) Driver::release_event(event);
  for (void* const stream : m_streams) Driver::release_stream(stream);
}

void StreamTurns::start(void* behind, bool gives_way) {
  m_used = gives_way ? most : 1;
  m_streams.reserve(most);
  while (m_streams.size() < m_used) m_streams.push_back(Driver::make_stream(m_device));
  m_operation = 0;
  wait(behind);
}

void StreamTurns::begin() {
  ++m_operation;
  if (m_used > 1 && m_operation > 2) Driver::make_wait(stream(), end_of(m_operation - 2), m_device);
}

void StreamTurns::end() {
  if (m_used == 1) return;
  if (m_operation > 1) Driver::make_wait(stream(), end_of(m_operation - 1), m_device);
  Driver::record(end_of(m_operation), stream(), m_device);
}

// On all streams, since the next operation may begin before this one.
void StreamTurns::wait(void* event) {
  for (std::size_t s = 0; s < m_used; ++s) Driver::make_wait(m_streams[s], event, m_device);
}

void StreamTurns::record(void*& event) { Driver::record(event, stream(), m_device); }

void StreamTurns::drain() noexcept {
  for (void* const stream : m_streams) {
    try {
      Driver::fence(stream);
    } catch (CudaError const&) {  // of the same origin as what was told
    }
  }
}

}  // namespace KokkosHostSpaces::Impl
