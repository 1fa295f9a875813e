// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_TABLE_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_TABLE_HPP

#include <cstddef>
#include <memory>

namespace KokkosHostSpaces::Impl {

/// A copy of `bytes` bytes in memory of a device, there on return, for kernels that use it again and
/// again; nullptr if the device has no memory left. Whoever destroys the last owner waits for
/// kernels that run, and so for those that may use it.
std::shared_ptr<void> make_device_table(int device, void const* data, std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl

#endif
