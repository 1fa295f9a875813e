// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// One array travels to the device and back, another one is used by a kernel where it lies. Returns
// 0 if both hold what they should.

#include <KokkosHostSpaces.hpp>

#include <cstdio>
#include <string>

namespace khs = KokkosHostSpaces;

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  constexpr int count = 1'000'000;
  Kokkos::DefaultExecutionSpace const instance;

  Kokkos::View<int*, khs::PinnedSpace> const copied("copied", count);
  Kokkos::View<int*, khs::MappedSpace> const in_place("in_place", count);
  Kokkos::View<int*> const device("device", count);
  for (int i = 0; i < count; ++i) copied(i) = i;

  Kokkos::deep_copy(instance, device, copied);
  Kokkos::parallel_for(
      "add_one", Kokkos::RangePolicy(instance, 0, count), KOKKOS_LAMBDA(int i) {
        device(i) += 1;
        in_place(i) = 2 * device(i);
      });
  Kokkos::deep_copy(instance, copied, device);
  instance.fence("both are done");

  int wrong = 0;
  for (int i = 0; i < count; ++i)
    if (copied(i) != i + 1 || in_place(i) != 2 * (i + 1)) ++wrong;

  std::string const pool = khs::pool::to_text(khs::pool::statistics());
  std::printf("%s%d of %d wrong\n", pool.c_str(), wrong, count);
  return wrong == 0 ? 0 : 1;
}
