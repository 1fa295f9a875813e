// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Threads that use the library for the first time, each another part of it, at once: each part has
// Kokkos tell it of its end, and Kokkos' list has no lock (for ThreadSanitizer).

#include <KokkosHostSpaces.hpp>

#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

#include <cstdio>
#include <thread>

namespace khs = KokkosHostSpaces;

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const scope(argc, argv);
  std::thread sums([] {
    try {
      khs::Impl::reduction_workspace(nullptr, 0, 1);
    } catch (khs::Error const&) {  // without a device
    }
  });
  std::thread allocates([] {
    khs::PinnedSpace const space;
    space.deallocate("first", space.allocate("first", 1), 1);
  });
  sums.join();
  allocates.join();
  std::puts("PASSED");
}
