// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_COPIES_HPP

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// Allocates device memory for chunks and resident copies of streamed loops. \throw Error
DeviceMemory allocate_stream_memory(int device, std::size_t bytes);

/// Lazily made copies of host memory, one on each device. Thread-safe; threads of one device do not
/// wait for another device.
class DeviceCopies {
 public:
  using Allocator = std::function<DeviceMemory(int device, std::size_t bytes)>;
  explicit DeviceCopies(Allocator allocator = allocate_stream_memory)
      : m_allocator(std::move(allocator)) {}

  /// The copy on a device, for later work of `stream`, which is of that device. The first call makes it
  /// behind the earlier work of its stream; waits only if CUDA does, as for pageable memory.
  /// \throw Error
  void* on_device(int device, void* stream, void const* host, std::size_t bytes);
  /// True if the bytes of the host differ from those at the first call since forget(). Reads them all:
  /// for debugging.
  bool are_stale(void const* host, std::size_t bytes);
  /// Frees the memory; waits for kernels.
  void forget();

 private:
  struct Copy {
    std::mutex mutex;
    DeviceMemory memory;
    void* arrival = nullptr;  ///< event of the copy; nullptr when it was seen to be done
    ~Copy();
  };

  Allocator m_allocator;
  std::mutex m_mutex;  // guards the map, not its values; and m_hash
  std::map<int, Copy> m_copies;
  std::optional<std::size_t> m_hash;  // of the host's bytes, where are_stale is called
};

}  // namespace KokkosHostSpaces::Impl

#endif
