// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// deep_copy equals a loop on the host, by rank, layout, type and space.

#include "RandomDeepCopies.hpp"

namespace DeepCopyRandom {

using khs::MappedSpace;
using khs::PinnedSpace;
using Kokkos::HostSpace;
using Left  = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

TEST_CASE("deep_copy equals a loop on the host, between all kinds of spaces",
          "[deep_copy_random]") {
  check<3, double, double, DeviceSpace, PinnedSpace>();
  check<3, char, char, PinnedSpace, DeviceSpace>();
  check<3, float, float, MappedSpace, PinnedSpace>();
  check<3, short, short, PinnedSpace, HostSpace>();
  check<3, double, double, HostSpace, MappedSpace>();
  check<3, int, int, khs::WriteCombinedSpace, PinnedSpace>();
#ifdef KOKKOS_ENABLE_CUDA
  check<3, int, int, khs::WriteCombinedSpace, DeviceSpace>();
  check<3, double, double, Kokkos::CudaUVMSpace, PinnedSpace, Left, Right>();
  check<3, double, double, MappedSpace, Kokkos::CudaUVMSpace>();
  check<3, double, double, Kokkos::CudaHostPinnedSpace, MappedSpace>();
  check<3, double, double, PinnedSpace, Kokkos::CudaHostPinnedSpace, Left, Right>();
#endif
}

// No word of a kernel is as long.
template <class T>
struct Triple {
  T x, y, z;
  Triple() = default;
  explicit Triple(double value) : x(T(value)), y(x + 1), z(x + 2) {}
};

TEST_CASE("deep_copy equals a loop on the host, for each rank, between layouts and types",
          "[deep_copy_random]") {
  check<0, double, double, DeviceSpace, PinnedSpace>();
  check<1, float, float, DeviceSpace, PinnedSpace>();
  check<2, int, int, DeviceSpace, PinnedSpace, Left, Right>();
  check<2, Triple<double>, Triple<double>, PinnedSpace, HostSpace, Left, Right>();
  check<2, double, float, DeviceSpace, PinnedSpace>();
  check<3, Triple<float>, Triple<float>, DeviceSpace, PinnedSpace>();
  check<3, float, double, PinnedSpace, DeviceSpace, Left, Right>();
  check<3, double, int, PinnedSpace, HostSpace>();
  check<4, int, int, DeviceSpace, MappedSpace, Right, Right>();
  check<5, int, int, HostSpace, PinnedSpace>();
  check<6, float, float, DeviceSpace, PinnedSpace>();
  check<7, char, char, PinnedSpace, DeviceSpace>();
  check<8, int, int, DeviceSpace, MappedSpace>();
}

}  // namespace DeepCopyRandom
