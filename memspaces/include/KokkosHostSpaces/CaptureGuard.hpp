// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_CAPTURE_GUARD_HPP
#define KOKKOS_HOST_SPACES_CAPTURE_GUARD_HPP

namespace KokkosHostSpaces::pool {

/// Announces a stream capture that the pool cannot see: it records no event on any device as long as
/// a guard lives. Needed for captures of streams made with cudaStreamNonBlocking.
class CaptureGuard {
 public:
  /// Construct it before the capture begins. Waits for event recordings of other threads, up to a
  /// second while memory is registered or unregistered.
  CaptureGuard() noexcept;
  ~CaptureGuard();  ///< destroy it after the capture has ended
  CaptureGuard(CaptureGuard const&)            = delete;
  CaptureGuard& operator=(CaptureGuard const&) = delete;
};

}  // namespace KokkosHostSpaces::pool

#endif
