// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_CAPTURE_GUARD_HPP
#define KOKKOS_HOST_SPACES_CAPTURE_GUARD_HPP

namespace KokkosHostSpaces::pool {

/// A scope guard that announces a stream capture to the pool, which records no event on any device
/// during its lifetime. Needed for captures of streams made with cudaStreamNonBlocking, which the
/// pool cannot see, and for each capture if other threads use the library meanwhile: a capture that
/// begins between the pool's look and its recording is broken by the latter.
class CaptureGuard {
 public:
  /// Construct it before the capture begins. Waits for event recordings of other threads: up to a
  /// second while they register or unregister memory. With CUDA 12.2 to 12.4 it may
  /// also wait, without a time limit, for all work of a device, if an allocation waited for memory:
  /// before it submit no work that waits for this thread.
  CaptureGuard() noexcept;
  ~CaptureGuard();  ///< destroy it after the end of the capture
  CaptureGuard(CaptureGuard const&)            = delete;
  CaptureGuard& operator=(CaptureGuard const&) = delete;
};

}  // namespace KokkosHostSpaces::pool

#endif
