// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_MAPPINGS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_MAPPINGS_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

enum class RangeState { writable, read_only, not_mapped };

/// What the system says about a range of addresses.
struct RangeReport {
  RangeState state = RangeState::writable;
  // Of the first mapping that is read-only, else of the first one.
  bool shared      = false;  ///< writes are seen by other processes, and in the file
  std::string file = {};     ///< which is mapped; empty or in brackets if none is
};

/// How to ask: by the ioctl of Linux 6.11, which finds an address at once, or by reading the list
/// of all mappings (12 ms for 50 000). An older kernel falls back to the list.
enum class AskBy { query, list };

/// Asks once. Where the system does not tell, what is mapped counts as writable.
RangeReport report_on_range(void const* pointer, std::size_t bytes, AskBy how = AskBy::query);

inline RangeState inspect_range(void const* pointer, std::size_t bytes) {
  return report_on_range(pointer, bytes).state;
}

/// Is all of the range mapped? At no cost, and without memory.
bool is_mapped(void const* pointer, std::size_t bytes) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
