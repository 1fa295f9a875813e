// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Groups.hpp"

namespace KokkosHostSpaces::Perf {

namespace {

Cases all_transport_cases(Effort const& effort) {
  Cases all = transport_cases(effort);
  for (Cases (*more)(Effort const&) : {touch_cases, choice_cases, cpu_cases})
    for (Case& one : more(effort)) all.push_back(std::move(one));
  return all;
}

}  // namespace

std::vector<Group> const& groups() {
  static std::vector<Group> const all = {
      {"idioms", idioms_cases}, {"transport", all_transport_cases},
      {"vector", vector_cases}, {"copy", copy_cases},
      {"alloc", alloc_cases},   {"latency", latency_cases},
      {"stream", stream_cases}};
  return all;
}

}  // namespace KokkosHostSpaces::Perf
