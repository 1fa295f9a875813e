// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streams and copies of bytes, without CUDA's types.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMS_HPP

#include <cstddef>

namespace KokkosHostSpaces::Impl {

/// A cudaStream_t; nullptr is the legacy default stream.
using StreamHandle = void*;

/// Returns the device that owns one of two addresses; -1 if both are the host's.
int device_of(void const* a, void const* b);

/// Returns the library's stream of a device (-1: the current one) for copies that the host waits
/// for. It does not synchronise with the legacy default stream.
StreamHandle private_stream(int device);

/// Makes a further stream of that kind.
StreamHandle make_stream(int device);

/// Enqueues a copy of bytes in any direction on `stream` and returns.
void copy_async(void* dst, void const* src, std::size_t bytes, StreamHandle stream);

/// Copies bytes in any direction on the private stream of the device that owns one side, and waits
/// for this copy alone.
void copy_and_wait(void* dst, void const* src, std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl

#endif
