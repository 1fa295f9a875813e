// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Page-locks segments that were mapped before a device had a context.

#include "../Driver.hpp"
#include "../PageLock.hpp"
#include "Pools.hpp"

#include <cstdio>
#include <exception>
#include <mutex>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

// Told once of each: such memory is right for copies, and slow.
void report_unlocked(std::size_t bytes, char const* why) {
  static std::atomic<std::size_t> told{0};
  if (told.exchange(bytes) == bytes) return;
  std::fprintf(
      stderr,
      "KokkosHostSpaces: %zu bytes that were allocated before a device was in use cannot be "
      "page-locked (%s): copies of them are slow, and kernels cannot use them; allocate them "
      "once a device is in use\n",
      bytes, why);
}

}  // namespace

bool Pools::lock_waiting_of(Heap& heap) noexcept {
  char const* from = nullptr;
  for (;;) {
    Segment* const segment = [&] {
      std::lock_guard const lock(heap.mutex);
      return heap.waiting_segment(from);
    }();
    if (segment == nullptr) return true;
    Region& region = segment->region;
    try {
      lock_mapped(region);
    } catch (Driver::StillLocked const&) {  // must not be unmapped, as if all of it were locked
    } catch (std::exception const& error) {
      report_unlocked(region.bytes, error.what());
      return false;
    }
    std::lock_guard const lock(heap.mutex);
    region.origin = Origin::mapped_and_registered;
    from          = static_cast<char const*>(region.pointer);
  }
}

void Pools::lock_waiting() noexcept {
  if (!Driver::has_context()) return;
  std::lock_guard const stay(m_segments_stay);
  lock_all_waiting();
}

void Pools::lock_waiting_unless_busy() noexcept {
  if (!some_wait() || !Driver::has_context()) return;
  std::unique_lock const stay(m_segments_stay, std::try_to_lock);
  if (stay.owns_lock()) lock_all_waiting();
}

// A segment that is adopted meanwhile sets m_some_wait again.
void Pools::lock_all_waiting() noexcept {
  if (!m_some_wait.exchange(false)) return;
  bool all = true;
  for_each_heap([&](Heap& heap) { all = lock_waiting_of(heap) && all; });
  m_some_were_refused = !all;
}

}  // namespace KokkosHostSpaces::Impl::Backend
