// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Early initialisation of Kokkos' lock arrays, which would break a capture.

#ifndef KOKKOS_HOST_SPACES_IMPL_LOCK_ARRAY_INIT_HPP
#define KOKKOS_HOST_SPACES_IMPL_LOCK_ARRAY_INIT_HPP

namespace KokkosHostSpaces::Impl {

/// The lock arrays of one source file. Kokkos initialises them when it launches the first kernel of
/// that file: it copies on the legacy default stream and waits, which silently breaks the capture
/// of a blocking stream. Therefore allocations of this library initialise those of all files as
/// soon as the device is idle.
class LockArrayInit {
 public:
  explicit LockArrayInit(void (*prepare)()) noexcept;
  ~LockArrayInit();
  LockArrayInit(LockArrayInit const&)            = delete;
  LockArrayInit& operator=(LockArrayInit const&) = delete;

  /// Initialises those that are not yet initialised, unless that would wait or a stream captures.
  static void prepare_all() noexcept;

 private:
  void (*m_prepare)();
  mutable LockArrayInit* m_next;  // mutable: the objects are const
};

}  // namespace KokkosHostSpaces::Impl

#endif
