// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_ALLOCATIONS_HPP
#define KOKKOS_HOST_SPACES_PERF_ALLOCATIONS_HPP

#include "Options.hpp"
#include "Statistics.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Page-locked memory made for the first time in a process, and given back.
struct Allocation {
  std::string way;  ///< a memory space of Kokkos, or the plain way
  std::size_t bytes;
  Summary allocate_seconds;
  Summary free_seconds;
  Summary speedup;  ///< time to allocate this way / time to allocate in PinnedSpace, in the same
                    ///< process
  bool page_locked;
};

/// Allocates in a fresh process for each repetition: no cache of a library or of the runtime then
/// holds memory of an earlier one. Sizes for which the machine has not enough memory are left out
/// with a note. `arguments` are those of this process: the others get the same flags for Kokkos.
std::vector<Allocation> run_allocations(Options const& options,
                                        std::vector<std::string> const& arguments);

/// What such a process does; Kokkos must be initialised.
void sample_allocations(std::size_t bytes, std::ostream& out);

}  // namespace KokkosHostSpaces::Perf

#endif
