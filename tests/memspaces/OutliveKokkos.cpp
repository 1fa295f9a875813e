// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that is given back after Kokkos::finalize, and by a static destructor, must neither crash
// nor leak; allocators also give memory before Kokkos::initialize and after Kokkos::finalize.

#include <KokkosHostSpaces.hpp>

#include <cstdio>
#include <optional>
#include <vector>

namespace khs = KokkosHostSpaces;

std::optional<khs::Allocator<int>> allocator;
struct Holder {
  int* memory = nullptr;
  ~Holder() {
    if (memory != nullptr) allocator->deallocate(memory, 1000);
  }
} holder;

using Vector = std::vector<int, khs::Allocator<int>>;

int main(int argc, char* argv[]) {
  Vector early(1000, 5);
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
  early.resize(2000, 6);
  Vector const late(1000, 7);
  bool const right = early[999] == 5 && early[1999] == 6 && late[999] == 7 &&
                     before.bytes_in_use > 0 && after.bytes_in_use > before.bytes_in_use &&
                     holder.memory[999] == 1 && raw[999] == 2;
  khs::PinnedSpace().deallocate("raw", raw, 4000);
  std::puts(right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
