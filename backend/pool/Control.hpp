// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How the pool is steered.

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_CONTROL_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_CONTROL_HPP

#include <cstddef>
#include <memory>
#include <utility>

namespace KokkosHostSpaces::pool {

/// Gives ready memory back to the system until at most `bytes_to_keep` of it are left, in whole
/// segments that nobody uses. Waits for running kernels if there is something to give back. Returns
/// the bytes given back.
std::size_t trim(std::size_t bytes_to_keep);

/// Limits the memory had from the system, in bytes; 0: no limit. As KOKKOS_HOST_SPACES_POOL_LIMIT.
/// The share of KOKKOS_HOST_SPACES_NODE_LIMIT remains a limit. Gives ready memory back if there is too
/// much.
void set_limit(std::size_t bytes);

/// Memory being reserved in the background. The process does not end before the chunk in work is
/// done.
class Reservation {
 public:
  struct Progress;
  /// Not for users: reserve() makes them.
  explicit Reservation(std::shared_ptr<Progress> progress) : m_progress(std::move(progress)) {}

  std::size_t bytes_asked() const noexcept;  ///< of reserve()
  std::size_t bytes_done() const noexcept;   ///< page-locked by now
  bool finished() const noexcept;            ///< all is done, or it has failed

  /// Waits for the end. \throw OutOfPinnedMemory or CudaError if not all could be reserved. \throw
  /// Error in the child of a fork, which has no thread that would end it.
  void wait() const;

 private:
  std::shared_ptr<Progress> m_progress;
};

}  // namespace KokkosHostSpaces::pool

#endif
