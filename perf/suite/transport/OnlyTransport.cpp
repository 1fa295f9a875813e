// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The groups of kokkos_host_spaces_transport, a first look that is quick to build: what real codes do, and
// the ways to hand data to the GPU.

#include "../Groups.hpp"

namespace KokkosHostSpaces::Perf {

std::vector<Group> const& groups() {
  static std::vector<Group> const only = {{"idioms", idioms_cases}, {"transport", transport_cases}};
  return only;
}

}  // namespace KokkosHostSpaces::Perf
