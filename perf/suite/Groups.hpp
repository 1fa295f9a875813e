// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_GROUPS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_GROUPS_HPP

#include "Effort.hpp"
#include "Pair.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

Cases vector_cases(Effort const& effort);
Cases copy_cases(Effort const& effort);
Cases alloc_cases(Effort const& effort);
Cases zero_copy_cases(Effort const& effort);
Cases latency_cases(Effort const& effort);
Cases stream_cases(Effort const& effort);
Cases transport_cases(Effort const& effort);

/// A table of what the group transport has found.
void write_transport_table(std::ostream& out, std::vector<Result> const& results);

/// What the group alloc does in a process of its own: `what` is told by the one that starts it.
void sample_cold_allocation(std::string const& what, std::ostream& out);

/// Benchmarks that have a folder of their own here.
struct Group {
  std::string name;
  Cases (*cases)(Effort const&);
  void (*write_summary)(std::ostream&, std::vector<Result> const&) = nullptr;
  void (*in_fresh_process)(std::string const&, std::ostream&)      = nullptr;
};

/// Those of this program, in the order in which they are measured: in AllGroups.cpp, or
/// transport/OnlyTransport.cpp. A new group is a function above and a line in AllGroups.cpp.
std::vector<Group> const& groups();

}  // namespace KokkosHostSpaces::Perf

#endif
