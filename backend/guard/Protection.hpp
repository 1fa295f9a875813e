// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_PROTECTION_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_PROTECTION_HPP

#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

/// What host code may do with pages.
enum class Access { all, read, none };

/// Sets what threads of this process may do with whole pages; what devices do is not touched. For
/// signal handlers too. False if the system refuses: it limits how many pieces memory may have.
bool protect_pages(void* begin, std::size_t bytes, Access access) noexcept;

/// Is told of an access that protection forbids, in a signal handler: may call what is safe there.
/// True if the access shall be tried again.
using OnForbiddenAccess = bool (*)(char const* address, bool is_write) noexcept;

/// Makes `handler` the first to be told. What it does not take, and all other faults, goes to whoever
/// handled SIGSEGV before. To be called again where somebody else may have taken the signal since.
void handle_forbidden_accesses(OnForbiddenAccess handler) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
