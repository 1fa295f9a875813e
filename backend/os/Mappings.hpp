// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_MAPPINGS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_MAPPINGS_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

enum class RangeState { writable, read_only, not_mapped };

/// State and kind of the mappings of a range of addresses.
struct RangeReport {
  RangeState state = RangeState::writable;
  // The others describe the first read-only mapping, else the first mapping.
  bool shared      = false;  ///< writes are seen by other processes, and in the file
  std::string file = {};     ///< mapped file; empty or in brackets for other memory
};

/// Describes a range by the list of all mappings (12 ms for 50 000). Mapped memory counts as writable where
/// /proc cannot be read.
RangeReport report_on_range(void const* pointer, std::size_t bytes);

/// True if all of the range is mapped. One system call, no allocation.
bool is_mapped(void const* pointer, std::size_t bytes) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
