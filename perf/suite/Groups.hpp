// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_GROUPS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_GROUPS_HPP

#include "Effort.hpp"
#include "Pair.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

Cases vector_cases(Effort const& effort);
Cases copy_cases(Effort const& effort);
Cases alloc_cases(Effort const& effort);
Cases zero_copy_cases(Effort const& effort);
Cases latency_cases(Effort const& effort);

struct Group {
  std::string name;
  Cases (*cases)(Effort const&);
};

/// In the order in which they are measured. A new group is a function of its own and a line here.
inline std::vector<Group> const& all_groups() {
  static std::vector<Group> const groups = {{"vector", vector_cases},
                                            {"copy", copy_cases},
                                            {"alloc", alloc_cases},
                                            {"zero_copy", zero_copy_cases},
                                            {"latency", latency_cases}};
  return groups;
}

}  // namespace KokkosHostSpaces::Perf

#endif
