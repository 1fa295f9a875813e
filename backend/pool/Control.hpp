// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Controls of the pool.

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

/// Sets the limit of page-locked memory in bytes, as KOKKOS_HOST_SPACES_POOL_LIMIT; 0: no limit. The
/// share of KOKKOS_HOST_SPACES_NODE_LIMIT still applies. Gives ready memory back above the limit, and
/// then waits for running kernels. What is in use above it is given back later: when the pool next grows, or by
/// trim.
void set_limit(std::size_t bytes);

/// A handle of memory that is page-locked in the background. The end of the process waits for the chunk
/// that is being locked.
class Reservation {
 public:
  struct Progress;
  /// Not for users: reserve() makes them.
  explicit Reservation(std::shared_ptr<Progress> progress) : m_progress(std::move(progress)) {}

  std::size_t bytes_asked() const noexcept;  ///< of reserve()
  std::size_t bytes_done() const noexcept;   ///< page-locked by now
  bool finished() const noexcept;            ///< all is done, or it has failed

  /// Waits until it has finished.
  /// \throw OutOfPinnedMemory or DeviceError if not all could be reserved
  /// \throw Error in the child of a fork, which lacks the thread that locks
  void wait() const;

 private:
  std::shared_ptr<Progress> m_progress;
};

}  // namespace KokkosHostSpaces::pool

#endif
