// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_ALLOC_COLD_HPP
#define KOKKOS_HOST_SPACES_PERF_ALLOC_COLD_HPP

#include "../Json.hpp"
#include "../Statistics.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Memory made for the first time in a process, and given back.
struct Allocation {
  std::string way;
  std::size_t bytes;
  Summary allocate_seconds;
  Summary free_seconds;
  Summary speedup;  ///< time to allocate this way / time to allocate in PinnedSpace, in the same
                    ///< process
  bool verified;    ///< page-locked, and both ends keep what is written
};

/// Allocates in a fresh process for each repetition: no cache of a library or of the runtime then
/// holds memory of an earlier one. Sizes for which the machine has not enough memory are left out
/// with a note. `arguments` are those of this process: the others get the same flags for Kokkos.
std::vector<Allocation> run_allocations(std::vector<std::size_t> const& sizes, int repetitions,
                                        std::vector<std::string> const& arguments);

struct ColdSample {
  double allocate_seconds, free_seconds;
  bool verified;
};

/// One sample of one way, in a fresh process that uses the device of this one, where Kokkos is
/// initialised. \param plant_error damages the memory before it is checked
ColdSample sample_in_fresh_process(std::string const& way, std::size_t bytes, bool plant_error);

/// What a fresh process does, told by --allocation-sample, of one way only if --allocation-way
/// tells which; Kokkos must be initialised.
void sample_allocations(std::size_t bytes, std::string const& only, bool plant_error,
                        std::ostream& out);

void write_allocations(std::ostream& out, std::vector<Allocation> const& results, int repetitions);
void write_allocations(Json& json, std::string const& key, std::vector<Allocation> const& results);

}  // namespace KokkosHostSpaces::Perf

#endif
