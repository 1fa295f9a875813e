// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_REGISTRY_HPP
#define KOKKOS_HOST_SPACES_BACKEND_REGISTRY_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// Page-locks memory that somebody else allocated and remembers the range. Thread-safe; blocks the
/// calling thread, waits for no device. `keep_from_children` leaves the memory out of children made
/// by fork, which would else copy it during the fork; it wants whole pages, and takes effect where
/// there is a device.
/// \throw RegistrationError naming `label`, the range and what to do, if it is null or empty, not
/// mapped, read-only, page-locked already, overlaps with a range that is registered, or is refused
/// by system or runtime.
void register_range(void* pointer, std::size_t bytes, std::string const& label,
                    bool keep_from_children = false);

/// Undoes register_range for the range that starts at `pointer`. Waits for running kernels. Does
/// nothing for ranges that the parent of a forked process has registered.
/// \return an empty string, or what went wrong (the memory was freed while it was registered); the
/// range is forgotten in either case.
std::string unregister_range(void* pointer) noexcept;

/// Number of ranges that this process has registered now; those of a parent do not count.
std::size_t registered_ranges() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
