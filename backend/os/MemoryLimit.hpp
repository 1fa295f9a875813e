// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_LIMIT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_LIMIT_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// Bytes that the control groups of this process (versions 1 and 2) and their parents allow; SIZE_MAX
/// without a limit.
struct GroupMemory {
  std::size_t limit = SIZE_MAX;  ///< the smallest limit
  /// Can be locked before the kernel ends a process: the smallest difference of a limit and what the
  /// processes of the group hold, and the free swap space that the groups may use.
  std::size_t left = SIZE_MAX;
};
/// Reads the files anew. \param root a prefix of all file names
GroupMemory memory_of_cgroups(std::string const& root = "");

/// Tells when to read these files again, which takes 0.1 to 0.3 ms. Thread-safe.
class GroupWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// Counts `bytes`; false if the files must be read before.
  bool covers(std::size_t bytes, Clock::time_point now) noexcept;

  /// Allows to lock `bytes` more until then. Call it after they were read.
  void allow(std::size_t bytes, Clock::time_point until) noexcept;

 private:
  std::atomic<std::size_t> m_bytes{0};
  std::atomic<Clock::time_point> m_until{Clock::time_point::min()};
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
