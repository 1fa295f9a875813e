// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// For the program that is built in a minute or two, to have a first look.

#include "../Groups.hpp"

namespace KokkosHostSpaces::Perf {

std::vector<Group> const& groups() {
  static std::vector<Group> const only = {{"transport", transport_cases, write_transport_table}};
  return only;
}

}  // namespace KokkosHostSpaces::Perf
