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
/// Of the group copy, with CUDA.
Cases multi_path_cases(Effort const& effort);
Cases alloc_cases(Effort const& effort);
Cases latency_cases(Effort const& effort);
Cases stream_cases(Effort const& effort);
/// Of the group transport: a triad by where the data lie, kernels that read a fraction of them, what streamed loops
/// choose, and rates of the host's threads.
Cases transport_cases(Effort const& effort);
Cases touch_cases(Effort const& effort);
Cases choice_cases(Effort const& effort);
Cases cpu_cases(Effort const& effort);
Cases idioms_cases(Effort const& effort);

/// Writes the results of the group idioms as a table.
void write_summary(std::ostream& out, std::vector<Result> const& results);

/// Runs idioms with stock Kokkos in an adopted process, as standard input asks for them.
/// \param mode the name of the mode whose idioms they are
void serve_adopted_idioms(std::string const& mode, std::ostream& out);

/// A group of benchmarks; each has a folder here.
struct Group {
  std::string name;
  Cases (*cases)(Effort const&);
};

/// The groups of this program, in the order in which they are measured. Defined in AllGroups.cpp and
/// transport/OnlyTransport.cpp. A new group is a function above and a line in AllGroups.cpp.
std::vector<Group> const& groups();

}  // namespace KokkosHostSpaces::Perf

#endif
