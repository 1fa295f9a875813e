// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_REPORT_HPP
#define KOKKOS_HOST_SPACES_PERF_REPORT_HPP

#include "Comparison.hpp"
#include "Machine.hpp"
#include "alloc/Cold.hpp"

#include <iosfwd>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct Results {
  int repetitions = 0, allocation_repetitions = 0;
  std::vector<Comparison> comparisons;
  std::vector<Allocation> allocations;
};

void write_table(std::ostream& out, Machine const& machine, Results const& results);
void write_json(std::ostream& out, Machine const& machine, Results const& results);

}  // namespace KokkosHostSpaces::Perf

#endif
