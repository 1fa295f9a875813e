// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_FORK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_FORK_HPP

namespace KokkosHostSpaces::Impl::Backend {

/// True in the child of a fork if the parent had called this function before it forked. CUDA must
/// not be used there, nor may page-locked memory be given back: it is the parent's.
bool is_forked_child() noexcept;

/// How many forks lie between this process and the one that first called either function. What is
/// guarded by a mutex belongs to one generation: a thread that a child lacks may have held it.
unsigned fork_generation() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
