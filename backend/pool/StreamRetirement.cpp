// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "StreamRetirement.hpp"

#include "Heap.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

namespace KokkosHostSpaces::Impl::Backend {

bool StreamRetirement::give_back(Heap& heap, BlockHeader& header,
                                 Pool::Stream const& stream) noexcept {
  Driver::Event event = nullptr;
  try {
    //~ failure 3b
    if (!Driver::record_beside_captures(event, stream.handle, stream.device)) return false;
    std::lock_guard const lock(m_mutex);
    auto& queue = m_streams[{stream.device, stream.handle}];
    queue.push_back({&heap, &header, event, Retirement::Clock::now()});
    if (heap.retire(header)) {
      ++m_count;
      return true;
    }
    queue.pop_back();
  } catch (std::exception const&) {  // of the driver, or no memory for the queue
  }
  Driver::release_event(event);
  return false;
}

void StreamRetirement::collect() noexcept {
  if (m_count.load(std::memory_order_relaxed) == 0) return;
  std::unique_lock const lock(m_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (auto stream = m_streams.begin(); stream != m_streams.end();) {
    auto& queue = stream->second;
    for (; !queue.empty(); queue.pop_front(), --m_count) {
      //~ failure 6
      Waiting const& first = queue.front();
      //~ early reuse e
      auto const state = Driver::query(first.event);
      if (state == Driver::EventState::pending || state == Driver::EventState::capturing) break;
      // A failed event proves nothing: the block waits for a later event of all work.
      bool const done = state == Driver::EventState::done;
      first.heap->put_back(*first.header, done ? Epoch(0) : m_of_all_work.stamp());
      Driver::release_event(first.event);
    }
    stream = queue.empty() ? m_streams.erase(stream) : std::next(stream);
  }
}

Retirement::Clock::time_point StreamRetirement::oldest() noexcept {
  auto oldest = Retirement::Clock::time_point::max();
  if (m_count.load(std::memory_order_relaxed) == 0) return oldest;
  std::lock_guard const lock(m_mutex);
  for (auto const& [stream, queue] : m_streams)
    if (!queue.empty()) oldest = std::min(oldest, queue.front().since);
  return oldest;
}

}  // namespace KokkosHostSpaces::Impl::Backend
