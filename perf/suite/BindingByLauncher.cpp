// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Binding.hpp"

namespace KokkosHostSpaces::Perf {

std::string bind_to_cores(Ranks const&) { return "as the launcher chose"; }

}  // namespace KokkosHostSpaces::Perf
