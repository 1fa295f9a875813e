// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_STREAM_RETIREMENT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_STREAM_RETIREMENT_HPP

#include "../Driver.hpp"
#include "Block.hpp"
#include "Pool.hpp"
#include "Retirement.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

/// Deallocated blocks, each of which waits for an event of one stream, because its owner knows that no
/// other work uses it. Events are recorded at once: the stream may be destroyed afterwards. Blocks of
/// one stream are ready in order, those of different streams do not wait for each other.
class StreamRetirement {
 public:
  explicit StreamRetirement(Retirement& of_all_work) : m_of_all_work(of_all_work) {}

  /// Deallocates a block or slot that is to wait for the present work of `stream`.
  /// Returns false, and changes nothing, if a graph keeps it, the stream captures, or CUDA refuses
  /// an event: then it must wait for all work.
  bool give_back(Heap& heap, BlockHeader& header, Pool::Stream const& stream) noexcept;

  /// Returns blocks to their heaps whose events are done. Does nothing while another thread does it.
  void collect() noexcept;

  /// The time at which the oldest block that waits was deallocated; Clock::time_point::max() if none waits.
  Retirement::Clock::time_point oldest() noexcept;

 private:
  struct Waiting {
    Heap* heap;
    BlockHeader* header;
    Driver::Event event;
    Retirement::Clock::time_point since;
  };

  Retirement& m_of_all_work;
  std::mutex m_mutex;  // held only by threads that may call the driver
  std::map<std::pair<int, Driver::Stream>, std::deque<Waiting>> m_streams;
  std::atomic<std::size_t> m_count{0};
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
