// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_SCOPED_DEVICE_HPP
#define KOKKOS_HOST_SPACES_IMPL_SCOPED_DEVICE_HPP

namespace KokkosHostSpaces::Impl {

/// The handle of a default stream is that of the current device: while this lives, that is `device`,
/// which such a stream is of, then again the one before, but for one that nobody uses. Other handles
/// say their device themselves.
class ScopedDevice {
 public:
  ScopedDevice(void* stream, int device) noexcept;
  ~ScopedDevice();
  ScopedDevice(ScopedDevice const&)            = delete;
  ScopedDevice& operator=(ScopedDevice const&) = delete;

 private:
  int m_before = -1;
};

}  // namespace KokkosHostSpaces::Impl

#endif
