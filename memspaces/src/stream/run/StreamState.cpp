// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/StreamJob.hpp>

#include "../../../../backend/Driver.hpp"

#include <algorithm>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

StreamedState::~StreamedState() {
  for (void* const event : m_ends) Driver::release_event(event);
}

void StreamedState::record_end(StreamTarget const& target) {
  m_ends.push_back(nullptr);
  Driver::record(m_ends.back(), target.stream, target.device);
}

bool StreamedState::is_done() const {
  return std::all_of(m_ends.begin(), m_ends.end(), [](void* event) {
    return Driver::query(event) != Driver::EventState::pending;
  });
}

void StreamedState::fence() {
  std::lock_guard const lock(m_mutex);
  if (m_fenced) return;
  m_fenced     = true;
  bool success = true;
  // What it keeps goes: the handle may outlive Kokkos.
  auto const ends = std::exchange(finish, nullptr);
  // Whoever is told of an error must find nothing running: the wait itself may have failed.
  for (void* const event : m_ends) success &= Driver::wait(event) || (Driver::wait(event), false);
  if (!success)
    throw Error(label +
                ": the device failed while the loop ran (its results are undefined): look "
                "for an error in the body, compute-sanitizer finds it");
  if (ends) ends();
}

}  // namespace KokkosHostSpaces::Impl
