// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_CAPTURE_GUARD_HPP
#define KOKKOS_HOST_SPACES_CAPTURE_GUARD_HPP

namespace KokkosHostSpaces::pool {

/// A scope guard that announces a stream capture to the pool: during its lifetime the pool records no
/// event on any device, since that breaks captures. Needed for captures of streams made with
/// cudaStreamNonBlocking, which the pool cannot see; and for every capture if other threads use the
/// library meanwhile, since it may begin after the pool has looked for captures, and before it records.
class CaptureGuard {
 public:
  /// Construct it before the capture begins. Waits for event recordings of other threads: up to a
  /// second while they register or unregister memory. With CUDA 12.2 to 12.4 it also waits, without a
  /// time limit, for all work of a device, if an allocation of another thread is waiting for memory: so
  /// submit no work before it that waits for this thread.
  CaptureGuard() noexcept;
  ~CaptureGuard();  ///< destroy it after the end of the capture
  CaptureGuard(CaptureGuard const&)            = delete;
  CaptureGuard& operator=(CaptureGuard const&) = delete;
};

}  // namespace KokkosHostSpaces::pool

#endif
