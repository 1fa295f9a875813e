// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_REGISTRY_HPP
#define KOKKOS_HOST_SPACES_BACKEND_REGISTRY_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// Page-locks memory of the caller and remembers the range: at once, or, while no device has a context,
/// by lock_waiting_ranges. Thread-safe; blocks the calling thread, waits for no device.
/// \param keep_from_children leaves the memory out of forked children, for which the fork would else
/// copy it. Needs whole pages; takes effect where there is a device.
/// \throw RegistrationError with `label`, the range and a remedy, if it is null or empty, not mapped,
/// read-only, page-locked already, overlaps with a registered range, or is refused by system or
/// runtime.
void register_range(void* pointer, std::size_t bytes, std::string const& label,
                    bool keep_from_children = false);

/// Page-locks the ranges that were registered before a device had a context (Driver::has_context); what
/// cannot be locked is told of on stderr. Also done by the next registration.
void lock_waiting_ranges() noexcept;

/// Undoes register_range for the range that starts at `pointer`, and forgets the range in any case.
/// Waits for running kernels. Ignores ranges that the parent of a forked process has registered.
/// \return an empty string, or an error (the memory was freed while it was registered, or the runtime
/// refused)
std::string unregister_range(void* pointer) noexcept;

/// True if `pointer` lies in a registered range, locked or not.
bool is_registered(void const* pointer) noexcept;

/// Number of registered ranges, without those of the parent of a forked process.
std::size_t registered_ranges() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
