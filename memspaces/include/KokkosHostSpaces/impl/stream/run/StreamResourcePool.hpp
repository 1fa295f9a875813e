// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A bounded pool of the resources that streamed loops take of a device: streams, events and memory,
// kept for later loops.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_RESOURCE_POOL_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_RESOURCE_POOL_HPP

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The streams for copies of one direction, made by the first loop. A copy engine serves a stream as long as that
/// has a copy which may begin, and what was enqueued later waits. So after some bytes the copies go on in the
/// other stream, behind an event, and the engine takes the next stream that has one.
struct CopyStreams {
  void *current = nullptr, *other = nullptr;
  void* turned       = nullptr;  ///< event: recorded when they change
  std::size_t copied = 0;        ///< bytes since then
};

/// The resources of one loop on one device. The next loop that takes them is ordered behind `done`.
struct StreamResources {
  StreamResources(int on_device, std::size_t size) : device(on_device), bytes(size) {}
  ~StreamResources();
  StreamResources(StreamResources const&)            = delete;
  StreamResources& operator=(StreamResources const&) = delete;

  /// For the calling thread.
  void take() {
    taken = true;
    taker = std::this_thread::get_id();
  }

  int device;
  std::size_t bytes;
  DeviceMemory memory;
  CopyStreams in, out;
  std::vector<void*> events;
  void* begun           = nullptr;  ///< event: recorded when a loop begins
  void* done            = nullptr;  ///< event: recorded after the last operation of a loop
  bool taken            = true;     ///< by a thread that enqueues a loop
  std::thread::id taker = std::this_thread::get_id();
  /// `done` was recorded. Read by threads that wait for a loop of another one.
  std::atomic<bool> used{false};
};

/// All resources of this process. Has one mutex a device; holds none while it waits for a device or
/// allocates memory there.
class StreamResourcePool {
 public:
  /// \throw Error
  using Allocator = std::function<DeviceMemory(int device, std::size_t bytes)>;
  using Pointer   = std::shared_ptr<StreamResources>;

  /// \param limit bytes of each device that the pool holds at most, unless one loop asks for more
  StreamResourcePool(Allocator allocator, std::size_t limit)
      : m_allocator(std::move(allocator)), m_limit(limit) {}

  /// Takes resources with memory of `bytes` or more. At the limit it takes those of a loop that
  /// still runs, or waits for other loops. To exclude a deadlock, a thread takes the resources of a
  /// device once, and those of several devices in ascending order.
  /// \throw Error if the memory cannot be allocated
  /// \throw Error if it is held by loops that failed, or it would wait for its own thread
  Pointer take(int device, std::size_t bytes);
  void put_back(Pointer const& resources) noexcept;
  /// For resources whose streams failed: they are not used again.
  void drop(Pointer const& resources) noexcept;

  /// Frees the memory of loops that are done.
  void release();
  std::size_t held() const;
  std::size_t limit() const { return m_limit; }

 private:
  struct Device {
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::vector<Pointer> resources;

    std::size_t held() const;
    Pointer take_smallest(std::size_t bytes, bool may_run);
    std::vector<Pointer> extract_idle();
    std::vector<Pointer> running() const;
    bool is_taken_by_this_thread() const;
  };

  Device& of(int device);
  std::vector<Pointer> extract_idle(int device);

  Allocator m_allocator;
  std::size_t m_limit;
  mutable std::mutex m_mutex;  // guards the map, not its values
  std::map<int, Device> m_devices;
};

/// The pool of the library.
StreamResourcePool& stream_resources();

}  // namespace KokkosHostSpaces::Impl

#endif
