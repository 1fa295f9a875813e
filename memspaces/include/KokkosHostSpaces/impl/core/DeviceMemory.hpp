// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Device memory for the library's own use: tables, workspaces, chunks, resident copies.

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_MEMORY_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_MEMORY_HPP

#include <cstddef>
#include <memory>
#include <string>

namespace KokkosHostSpaces::Impl {

/// Device memory with shared ownership. The last owner frees it, which waits for running kernels.
using DeviceMemory = std::shared_ptr<char>;

/// Allocates device memory without breaking a capture of another thread. Returns nullptr if the
/// device is out of memory. \throw DeviceError for any other failure
DeviceMemory try_allocate_on_device(int device, std::size_t bytes);

/// The same; `user` and `advice` complete the message of a shortage.
/// \throw Error if the device is out of memory  \throw DeviceError for any other failure
DeviceMemory allocate_on_device(int device, std::size_t bytes, std::string const& user,
                                std::string const& advice);

/// Copies `bytes` bytes of the host into fresh device memory; the copy is complete on return.
/// Returns nullptr if the device is out of memory. \throw DeviceError for any other failure
DeviceMemory try_copy_to_device(int device, void const* data, std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl

#endif
