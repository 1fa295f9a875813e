// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_GUARD_PROTECTION_HPP
#define KOKKOS_HOST_SPACES_BACKEND_GUARD_PROTECTION_HPP

#include <cstddef>
#include <string_view>

namespace KokkosHostSpaces::Impl::Backend {

/// The accesses that host code may make to pages.
enum class PageAccess { all, read, none };

/// Sets the access of host threads to whole pages; devices are not affected. Async-signal-safe. False
/// if the system refuses, as it does at its limit of mappings (vm.max_map_count).
bool protect_pages(void* begin, std::size_t bytes, PageAccess access) noexcept;

/// Writes to stderr. Async-signal-safe.
void write_in_handler(std::string_view text) noexcept;

/// Called in a signal handler for an access that protection forbids, or to memory that is not mapped;
/// must be async-signal-safe. Returns true to try the access again.
using OnForbiddenAccess = bool (*)(char const* address, bool is_write) noexcept;

/// Makes `handler`, which is one of two at most, the first to handle SIGSEGV; the faults for which they
/// return false, and all other faults, go to the previous handler. Call it again whenever the program
/// may have set a handler since. False if it has set more than eight.
bool handle_forbidden_accesses(OnForbiddenAccess handler) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
