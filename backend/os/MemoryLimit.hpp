// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_LIMIT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_LIMIT_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// The smallest memory limit in bytes of the control groups of this process (versions 1 and 2) and
/// their parents; SIZE_MAX without a limit. Reads the files anew at each call.
/// \param root a prefix of all file names
std::size_t memory_limit_of_cgroups(std::string const& root = "");

/// What these groups allow in bytes; SIZE_MAX without a limit.
struct GroupMemory {
  std::size_t limit = SIZE_MAX;  ///< the smallest limit
  /// What can be locked before the kernel ends a process: the smallest difference of a limit and what the
  /// processes of the group hold, and the free swap space.
  std::size_t left = SIZE_MAX;
};
GroupMemory memory_of_cgroups(std::string const& root = "");

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
