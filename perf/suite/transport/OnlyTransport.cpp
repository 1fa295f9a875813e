// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The groups of kokkos_host_spaces_transport, a first look that is quick to build.

#include "../Groups.hpp"

namespace KokkosHostSpaces::Perf {

std::vector<Group> const& groups() {
  static std::vector<Group> const only = {{"transport", transport_cases, write_transport_table}};
  return only;
}

}  // namespace KokkosHostSpaces::Perf
