// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels for tests of dependent launches: each reads the results of the kernel before it, so that a
// missing wait gives a wrong number.

#ifndef KOKKOS_HOST_SPACES_TESTS_DEPENDENT_LAUNCHES_HPP
#define KOKKOS_HOST_SPACES_TESTS_DEPENDENT_LAUNCHES_HPP

#include "../Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>

namespace DependentLaunches {

using OnDevice = Kokkos::View<double*, Kokkos::CudaSpace>;
using Pinned   = Kokkos::View<double*, KokkosHostSpaces::PinnedSpace>;
using Number   = Kokkos::View<double, Kokkos::CudaSpace>;

// Each element comes from another block: a kernel that runs too early reads old values.
template <class From>
struct Shift {
  From from;
  OnDevice to;
  KOKKOS_FUNCTION void operator()(int i) const {
    int const n = int(from.extent(0));
    to(i)       = from(n - 1 - i) + 1;
  }
};
template <class From>
Shift(From, OnDevice) -> Shift<From>;

inline void shift(Kokkos::Cuda const& instance, OnDevice const& a, OnDevice const& b) {
  int const n = int(a.extent(0));
  KokkosHostSpaces::parallel_for("there", instance, n, Shift{a, b});
  KokkosHostSpaces::parallel_for("back", instance, n, Shift{b, a});
}

inline int count_other(Kokkos::Cuda const& instance, OnDevice const& a, double expected) {
  Pinned const host(Kokkos::view_alloc("host", Kokkos::WithoutInitializing), a.extent(0));
  Kokkos::deep_copy(instance, host, a);
  instance.fence();
  int wrong = 0;
  for (std::size_t i = 0; i < host.extent(0); ++i) wrong += host(i) != expected;
  return wrong;
}

inline int any_length() {
  return elements(GENERATE(1, 31, 1 << 10, (1 << 12) + 1, 1 << 16, 1 << 20));
}

}  // namespace DependentLaunches

#endif
