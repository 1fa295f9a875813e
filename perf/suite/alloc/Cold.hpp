// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_COLD_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_COLD_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Perf {

/// An allocation that is the first one of a process.
struct ColdCase {
  std::string way;
  std::string variant;  ///< of a baseline; empty if it has one alone
  std::size_t bytes;
};

struct ColdSample {
  double seconds;
  bool verified;  ///< page-locked, and keeps what is written to its ends
};

/// Takes a sample in a fresh process on the device of this one, so that no cache holds memory of an earlier
/// allocation. Kokkos must be initialised.
/// \param damage corrupts the memory before it is verified
ColdSample sample_in_fresh_process(ColdCase const& what, bool damage);

/// Takes a sample in this process, from an emptied pool. Faster: with a GPU a process takes a second to begin
/// and end.
ColdSample sample_from_empty_pool(ColdCase const& what, bool damage);

}  // namespace KokkosHostSpaces::Perf

#endif
