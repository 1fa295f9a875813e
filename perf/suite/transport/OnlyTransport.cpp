// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The groups of kokkos_host_spaces_transport, a first look that is quick to build: what real codes do, and
// the ways to hand data to the GPU.

#include "../Groups.hpp"

namespace KokkosHostSpaces::Perf {

std::vector<Group> const& groups() {
  static std::vector<Group> const only = {
      {"idioms", idioms_cases, write_idioms_table, serve_adopted_idiom},
      {"transport", transport_cases, write_transport_table}};
  return only;
}

}  // namespace KokkosHostSpaces::Perf
