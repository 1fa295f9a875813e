// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Views that are destroyed after Kokkos::finalize, and by a static destructor, must neither crash
// nor leak.

#include <KokkosHostSpaces.hpp>

#include <cstdio>
#include <optional>

namespace khs = KokkosHostSpaces;

std::optional<khs::Allocator<int>> allocator;
struct Holder {
  int* memory = nullptr;
  ~Holder() {
    if (memory != nullptr) allocator->deallocate(memory, 1000);
  }
} holder;

int main(int argc, char* argv[]) {
  Kokkos::initialize(argc, argv);
  {
    Kokkos::View<int*, khs::MappedSpace> const view("view", 1000);
    allocator.emplace();
    holder.memory      = allocator->allocate(1000);
    holder.memory[999] = 1;
  }
  auto const before = khs::pool::statistics().total;
  auto* const raw   = static_cast<int*>(khs::PinnedSpace().allocate("raw", 4000));
  Kokkos::finalize();

  // What was cached has gone back, what is in use has not.
  auto const after = khs::pool::statistics().total;
  raw[999]         = 2;
  bool const right = before.bytes_in_use > 0 && after.bytes_in_use > before.bytes_in_use &&
                     holder.memory[999] == 1 && raw[999] == 2;
  khs::PinnedSpace().deallocate("raw", raw, 4000);
  std::puts(right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
