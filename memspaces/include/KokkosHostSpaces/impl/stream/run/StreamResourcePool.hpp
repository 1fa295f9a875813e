// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a streamed loop takes of a device while it runs: streams beside the caller's, events, and
// memory. Kept for the next loop; bounded.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_RESOURCE_POOL_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_RESOURCE_POOL_HPP

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamTurns.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// One loop at a time; the next one is ordered behind it by the event `done`.
struct StreamResources {
  StreamResources(int on_device, DeviceMemory device_memory, std::size_t size)
      : device(on_device),
        memory(std::move(device_memory)),
        bytes(size),
        in(on_device),
        out(on_device) {}
  ~StreamResources();
  StreamResources(StreamResources const&)            = delete;
  StreamResources& operator=(StreamResources const&) = delete;

  int device;
  DeviceMemory memory;
  std::size_t bytes;
  StreamTurns in, out;
  std::vector<void*> events;
  void* begun = nullptr;  ///< recorded when a loop begins, ...
  void* done  = nullptr;  ///< ... and when its last operation was enqueued
  bool used = false, taken = false;
  std::thread::id taker;  ///< while it is taken
};

/// All lanes of this process.
class StreamResourcePool {
 public:
  /// Device memory that goes back when the pointer does. \throw Error
  using Allocator = std::function<DeviceMemory(int device, std::size_t bytes)>;

  /// \param limit bytes that are held on a device at most, unless one loop asks for more
  StreamResourcePool(Allocator allocator, std::size_t limit)
      : m_allocator(std::move(allocator)), m_limit(limit) {}

  /// A lane for one loop, which nobody else has until it is put back. If all memory is in use, one
  /// whose loop is still running: whoever gets it enqueues behind `done`. Waits for a thread that
  /// is enqueueing if that has all of it. A thread takes one lane of a device at a time, devices in
  /// their order; if it asks in the midst of that again, it is given more rather than wait for itself.
  /// \throw Error if there is no such memory, or if loops that have it all have failed
  std::shared_ptr<StreamResources> take(int device, std::size_t bytes);
  void put_back(std::shared_ptr<StreamResources> const& lane) noexcept;
  /// For a lane whose streams failed: it is not used again.
  void drop(std::shared_ptr<StreamResources> const& lane) noexcept;

  /// Gives the memory of loops that are done back.
  void release();
  std::size_t held() const;
  std::size_t limit() const { return m_limit; }

 private:
  std::shared_ptr<StreamResources> find(int device, std::size_t bytes, bool may_run);
  std::size_t held_on(int device) const;
  bool is_nested(int device) const;
  DeviceMemory allocate(int device, std::size_t bytes);
  bool release_unused(int device);
  bool wait_for_loops(int device) const;

  Allocator m_allocator;
  std::size_t m_limit;
  mutable std::mutex m_mutex;
  std::condition_variable m_put_back;
  std::vector<std::shared_ptr<StreamResources>> m_lanes;
};

/// Those of the library, whose memory is Kokkos' CudaSpace.
StreamResourcePool& stream_lanes();

}  // namespace KokkosHostSpaces::Impl

#endif
