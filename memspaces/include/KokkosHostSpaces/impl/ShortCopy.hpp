// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_SHORT_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_SHORT_COPY_HPP

#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// Enqueues a copy of bytes from page-locked memory to a device's own on `stream`, a cudaStream_t,
/// and returns: short copies by the call that is faster.
void copy_to_device_async(void* dst, void const* src, std::size_t bytes, void* stream);

}  // namespace KokkosHostSpaces::Impl

#endif
