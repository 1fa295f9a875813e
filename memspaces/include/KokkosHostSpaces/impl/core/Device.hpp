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

#if defined(KOKKOS_ENABLE_OPENACC) || defined(KOKKOS_ENABLE_OPENMPTARGET)
#error \
    "Kokkos Host Spaces supports Kokkos with CUDA, HIP or SYCL, or without a device: use one of these"
#endif

// KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE: sources may have kernels and calls of the driven device.
#ifdef KOKKOS_ENABLE_CUDA
#define KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE
#endif

namespace KokkosHostSpaces::Impl {

#ifdef KOKKOS_ENABLE_CUDA

using StockDevice = void;
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

/// Stands in where no device is driven: has no instances.
struct DrivenDevice {};
inline StreamHandle stream_of(DrivenDevice const&) { return nullptr; }
inline int device_id_of(DrivenDevice const&) { return -1; }

#if defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)

/// A stock back end: memory and copies are Kokkos' own, on memory of its own pinned space.
#ifdef KOKKOS_ENABLE_HIP
using StockDevice       = Kokkos::HIP;
#else
using StockDevice = Kokkos::SYCL;
#endif
using DevicePinnedSpace = Kokkos::SharedHostPinnedSpace;
template <class Space>
inline constexpr bool is_device_pinned_v = std::is_same_v<Space, DevicePinnedSpace>;
template <class Space>
inline constexpr bool is_device_only_v = std::is_same_v<Space, typename StockDevice::memory_space>;
template <class Space>
inline constexpr bool is_used_by_device_v =
    is_device_only_v<Space> || std::is_same_v<Space, Kokkos::SharedSpace>;

#else

using StockDevice       = void;
using DevicePinnedSpace = Kokkos::HostSpace;
template <class Space>
inline constexpr bool is_device_pinned_v = false;
template <class Space>
inline constexpr bool is_device_only_v = false;
template <class Space>
inline constexpr bool is_used_by_device_v = false;

#endif

#endif

/// This build drives a device.
inline constexpr bool drives_device = Kokkos::is_execution_space_v<DrivenDevice>;

template <class ExecutionSpace>
inline constexpr bool is_driven_v = drives_device&& std::is_same_v<ExecutionSpace, DrivenDevice>;

/// This build has a device that it does not drive.
inline constexpr bool has_stock_device = !std::is_void_v<StockDevice>;

template <class ExecutionSpace>
inline constexpr bool is_stock_v = has_stock_device&& std::is_same_v<ExecutionSpace, StockDevice>;

template <class ExecutionSpace>
inline constexpr bool is_device_v = is_driven_v<ExecutionSpace> || is_stock_v<ExecutionSpace>;

}  // namespace KokkosHostSpaces::Impl

#endif
