// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_FORK_TEST_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_FORK_TEST_HPP

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// Tries whether a device still reads the pages of this process after a fork: locks a page, forks, writes,
/// and copies it to the current device and back. False if the device reads the old page, which the child
/// has (Linux before 5.12), and if a step fails. The child runs no fork handler and sends no signal.
bool fork_leaves_pages_to_parent() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
