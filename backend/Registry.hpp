// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_REGISTRY_HPP
#define KOKKOS_HOST_SPACES_BACKEND_REGISTRY_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl {

/// Page-locks memory that somebody else allocated and remembers the range. Thread-safe; blocks the
/// calling thread, waits for no device.
/// \throw RegistrationError naming `label`, the range and what to do, if it is null or empty, not
/// mapped, read-only, page-locked already, or overlaps with a range that is registered.
void register_range(void* pointer, std::size_t bytes, std::string const& label);

/// Undoes register_range for the range that starts at `pointer`. Waits for running kernels.
/// \return an empty string, or what went wrong (the memory was freed while it was registered); the
/// range is forgotten in either case.
std::string unregister_range(void* pointer) noexcept;

/// Number of ranges registered now.
std::size_t registered_ranges() noexcept;

}  // namespace KokkosHostSpaces::Impl

#endif
