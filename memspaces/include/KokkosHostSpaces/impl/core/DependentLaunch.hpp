// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Programmatic dependent launch: a kernel that starts before earlier work of its stream has ended.

#ifndef KOKKOS_HOST_SPACES_IMPL_DEPENDENT_LAUNCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEPENDENT_LAUNCH_HPP

#include <KokkosHostSpaces/impl/core/Streams.hpp>

#include <array>
#include <atomic>

namespace KokkosHostSpaces::Impl {

/// A kernel that itself waits (griddepcontrol.wait) for earlier work of its stream. Needs a device that supports it, and a kernel compiled for that device.
class DependentLaunch {
 public:
  static constexpr int most_devices = 64;

  explicit DependentLaunch(void const* kernel) noexcept : m_kernel(kernel) {}
  DependentLaunch(DependentLaunch const&)            = delete;
  DependentLaunch& operator=(DependentLaunch const&) = delete;

  /// Launches the kernel before earlier work of `stream` is done. Returns false, and does nothing,
  /// if the kernel was compiled without support, the driver refuses, `stream` is the legacy default
  /// stream, or `stream` captures.
  bool launch(unsigned blocks, unsigned threads, void const* argument, StreamHandle stream,
              int device) noexcept;

 private:
  void* function_on(int device) noexcept;

  void const* m_kernel;
  std::array<std::atomic<void*>, most_devices> m_functions{};  ///< nullptr: not yet known
};

#ifdef __CUDACC__

/// Waits until all earlier work of the stream has ended and its results are visible. Every thread
/// of the kernel must call it before it reads or writes, even a thread without work: later kernels
/// take the end of this one for the end of all work before it. Before the call a thread may only
/// prefetch.
inline __device__ void wait_for_earlier_work() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif  // __CUDACC__

}  // namespace KokkosHostSpaces::Impl

#endif
