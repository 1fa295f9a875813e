// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

#include <Kokkos_Core.hpp>

namespace KokkosHostSpaces::Impl {

// Never destroyed: kernels may run until Kokkos is finalized, and static objects may end before.
void* reduction_workspace(void* stream, int device, std::size_t bytes) {
  static ReductionWorkspaces* const all = [] {
    auto* const made = new ReductionWorkspaces;
    at_finalize([made] { made->clear(); });
    return made;
  }();
  return all->of(stream, device, bytes);
}

}  // namespace KokkosHostSpaces::Impl
