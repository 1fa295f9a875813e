// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_FORK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_FORK_HPP

namespace KokkosHostSpaces::Impl::Backend {

/// True in a forked child if the parent had called this function before. Such a child must not use
/// CUDA or unlock memory: both belong to the parent.
bool is_forked_child() noexcept;

/// Number of forks between the process that first called either function and this one. State behind
/// a mutex is valid in one generation: a thread that the child lacks may hold the mutex.
unsigned fork_generation() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
