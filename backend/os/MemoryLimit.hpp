// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_LIMIT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_LIMIT_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// The smallest memory limit of the control groups that this process is in, of version 1 and 2, and
/// of those around them; SIZE_MAX if there is none. `root` stands before the names of all files.
std::size_t memory_limit_of_cgroups(std::string const& root = "");

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
