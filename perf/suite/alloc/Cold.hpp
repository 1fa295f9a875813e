// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_COLD_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_COLD_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Perf {

/// What is to be made for the first time in a process.
struct ColdCase {
  std::string way;
  std::string variant;  ///< of a baseline; empty: it has one
  std::size_t bytes;
};

struct ColdSample {
  double seconds;
  bool verified;  ///< page-locked, and both ends keep what is written
};

/// One sample, in a fresh process that uses the device of this one: no cache of a library or of the
/// runtime then holds memory of an earlier one. Kokkos must be initialised.
/// \param damage damages the memory before it is checked
ColdSample sample_in_fresh_process(ColdCase const& what, bool damage);

/// The same in this process, once all that is kept was given back: without the second that a
/// process takes to begin and to end where it uses a GPU.
ColdSample sample_from_empty_pool(ColdCase const& what, bool damage);

}  // namespace KokkosHostSpaces::Perf

#endif
