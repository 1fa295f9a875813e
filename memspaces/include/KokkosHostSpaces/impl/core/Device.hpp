// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Knows, alone, which device back end Kokkos has: its execution space and memory spaces, the stream and
// the device id of an instance, and the calls that have other names for each back end.

#ifndef KOKKOS_HOST_SPACES_IMPL_DEVICE_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEVICE_HPP

#include <KokkosHostSpaces/impl/core/Streams.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>

#if defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL) || defined(KOKKOS_ENABLE_OPENACC)
#error \
    "Kokkos Host Spaces supports CUDA devices only: use a Kokkos with CUDA, or one without a device"
#endif

// KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE: sources may have kernels and calls of the driven device.
#ifdef KOKKOS_ENABLE_CUDA
#define KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE
#endif

namespace KokkosHostSpaces::Impl {

#ifdef KOKKOS_ENABLE_CUDA

/// The execution space whose streams this library drives: copies, kernels and captures of its own.
using DrivenDevice = Kokkos::Cuda;
/// Page-locked memory of Kokkos, which kernels reach.
using DevicePinnedSpace = Kokkos::CudaHostPinnedSpace;
template <class Space>
inline constexpr bool is_device_pinned_v = std::is_same_v<Space, DevicePinnedSpace>;

/// Memory that host code cannot access.
template <class Space>
inline constexpr bool is_device_only_v = std::is_same_v<Space, Kokkos::CudaSpace>;
/// Memory spaces of the device.
template <class Space>
inline constexpr bool is_used_by_device_v =
    is_device_only_v<Space> || std::is_same_v<Space, Kokkos::CudaUVMSpace>;

inline cudaStream_t stream_of(DrivenDevice const& instance) { return instance.cuda_stream(); }
inline int device_id_of(DrivenDevice const& instance) { return instance.cuda_device(); }
/// Returns an instance on a stream of the current device, which it does not own.
inline DrivenDevice instance_on(StreamHandle stream) {
  return DrivenDevice(static_cast<cudaStream_t>(stream));
}

/// Adds what `work(on)` enqueues, captured, behind a node of a graph of Kokkos.
template <class Node, class Work>
auto add_captured(Node const& node, DrivenDevice const& on, Work const& work) {
  return node.cuda_capture(on, work);
}

/// Makes the lock arrays of this source file ready, which Kokkos does before each of its launches. Each
/// source file that is compiled without relocatable device code has its own.
static inline void ensure_lock_arrays() { desul::ensure_cuda_lock_arrays_on_device(); }

#else

/// Stands in where there is no such device: has no instances.
struct DrivenDevice {};
using DevicePinnedSpace = Kokkos::HostSpace;
template <class Space>
inline constexpr bool is_device_pinned_v = false;

template <class Space>
inline constexpr bool is_device_only_v = false;
template <class Space>
inline constexpr bool is_used_by_device_v = false;

inline StreamHandle stream_of(DrivenDevice const&) { return nullptr; }
inline int device_id_of(DrivenDevice const&) { return -1; }

#endif

/// This build drives a device.
inline constexpr bool drives_device = Kokkos::is_execution_space_v<DrivenDevice>;

template <class ExecutionSpace>
inline constexpr bool is_driven_v = drives_device&& std::is_same_v<ExecutionSpace, DrivenDevice>;

}  // namespace KokkosHostSpaces::Impl

#endif
