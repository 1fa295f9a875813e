// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Instances of the library itself: for copies that the host waits for, and for captures.

#ifndef KOKKOS_HOST_SPACES_IMPL_PRIVATE_INSTANCE_HPP
#define KOKKOS_HOST_SPACES_IMPL_PRIVATE_INSTANCE_HPP

#include <KokkosHostSpaces/CaptureGuard.hpp>

#include <KokkosHostSpaces/impl/core/Device.hpp>

#include <mutex>

namespace KokkosHostSpaces::Impl {

/// Returns the library's instance on a device (-1: Kokkos' default one) for copies that the host
/// waits for: no user's kernel delays them. Made once a device; ends with Kokkos. Kokkos allocates
/// then, and uses the legacy default stream, which breaks captures of other threads.
DrivenDevice private_instance(int device);

/// An idle instance on a device (-1: Kokkos' default one) for captures, exclusively owned by this
/// object and announced to the pool. Streams of users may be busy, or be the legacy stream, which
/// cannot capture.
class CaptureInstance {
 public:
  explicit CaptureInstance(int device);
  DrivenDevice const& get() const { return m_instance; }

 private:
  std::unique_lock<std::mutex> m_lock;
  DrivenDevice m_instance;
  pool::CaptureGuard m_announced;
};

}  // namespace KokkosHostSpaces::Impl

#endif
