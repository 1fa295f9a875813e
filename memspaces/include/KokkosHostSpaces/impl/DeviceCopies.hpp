// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_COPIES_HPP

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace KokkosHostSpaces::Impl {

/// Copies of some bytes of the host on devices, made when they are first asked for.
class DeviceCopies {
 public:
  /// The copy on a device; waits while it is made. \throw Error
  void* on_device(int device, void const* host, std::size_t bytes);
  /// Gives the memory back; waits for kernels.
  void forget();

 private:
  std::mutex m_mutex;
  std::map<int, std::shared_ptr<char>> m_copies;
};

}  // namespace KokkosHostSpaces::Impl

#endif
