// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_CHECK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_CHECK_HPP

#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// Watches a copy that was enqueued and is not waited for: tells of host code that touches its adopted
/// side before it is done, which strict mode makes wait.
void check_copy(void const* dst, void const* src, std::size_t bytes, void* stream) noexcept;

/// Number of races that were told.
std::size_t races() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
