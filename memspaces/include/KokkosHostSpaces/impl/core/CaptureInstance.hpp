// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_CAPTURE_INSTANCE_HPP
#define KOKKOS_HOST_SPACES_IMPL_CAPTURE_INSTANCE_HPP

#include <KokkosHostSpaces/Pool.hpp>

#include <mutex>

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

/// An instance on a device (-1: Kokkos' default one) on which nothing runs, and which nobody else
/// has while this lives: for captures, of which the pool knows. Streams of users may be busy, or be
/// the legacy stream, which cannot capture.
class CaptureInstance {
 public:
  explicit CaptureInstance(int device);
  Kokkos::Cuda const& get() const { return m_instance; }

 private:
  std::unique_lock<std::mutex> m_lock;
  Kokkos::Cuda m_instance;
  pool::CaptureGuard m_announced;
};

}  // namespace KokkosHostSpaces::Impl

#endif  // KOKKOS_ENABLE_CUDA

#endif
