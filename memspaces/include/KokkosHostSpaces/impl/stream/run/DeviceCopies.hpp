// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_COPIES_HPP

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// Allocates device memory for chunks and resident copies of streamed loops. \throw Error
DeviceMemory allocate_stream_memory(int device, std::size_t bytes);

/// Copies of some bytes of the host on devices, made when they are first asked for. May be used by
/// several threads at once.
class DeviceCopies {
 public:
  using Allocator = std::function<DeviceMemory(int device, std::size_t bytes)>;
  explicit DeviceCopies(Allocator allocator = allocate_stream_memory)
      : m_allocator(std::move(allocator)) {}

  /// The copy on a device. If there is none yet, waits while it is made, behind what `stream`, of
  /// that device, was given before. \throw Error
  void* on_device(int device, void* stream, void const* host, std::size_t bytes);
  /// Gives the memory back; waits for kernels.
  void forget();

 private:
  Allocator m_allocator;
  std::mutex m_mutex;
  std::map<int, DeviceMemory> m_copies;
};

}  // namespace KokkosHostSpaces::Impl

#endif
