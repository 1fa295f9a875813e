// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_ALLOC_REPORT_HPP
#define KOKKOS_HOST_SPACES_PERF_ALLOC_REPORT_HPP

#include "../Machine.hpp"
#include "Goals.hpp"

#include <iosfwd>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct AllocResults {
  int cold_repetitions = 0;
  std::vector<Allocation> cold;
  std::vector<Latency> latencies;
};

void write_table(std::ostream& out, Machine const& machine, AllocResults const& results);
void write_json(std::ostream& out, Machine const& machine, AllocResults const& results);

}  // namespace KokkosHostSpaces::Perf

#endif
