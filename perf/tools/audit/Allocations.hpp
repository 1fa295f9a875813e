// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Counts the allocations of Views in host memory: how much was page-locked at once, and which Views are
// made and freed again and again.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_ALLOCATIONS_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_ALLOCATIONS_HPP

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Audit {

/// Several threads may call at the same time.
class Allocations {
 public:
  /// The label may be null.
  void allocated(std::string_view space, char const* label, std::uint64_t bytes);
  /// Reads the memory.
  void freed(std::string_view space, char const* label, void const* memory, std::uint64_t bytes);

  /// All Views of one label in one space.
  struct Remade {
    std::string label, space;
    std::uint64_t made = 0, freed = 0, bytes = 0;  ///< bytes of all that were made
    std::string contents = {};                     ///< size and sample of the last one freed
  };
  struct Result {
    std::uint64_t most_page_locked = 0;  ///< bytes at once
    std::vector<Remade> remade;          ///< those that a pool would spare, the most bytes first
    std::set<std::string> tables;  ///< a line for each large View, with a sample of its contents
  };
  Result result() const;

  /// Resets all numbers but the bytes that are in use.
  void clear();

 private:
  mutable std::mutex m_mutex;
  std::map<std::pair<std::string, std::string>, Remade> m_by_label;
  std::uint64_t m_page_locked = 0, m_most_page_locked = 0;
};

}  // namespace KokkosHostSpaces::Audit

#endif
