// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels for tests of dependent launches: each reads the results of the kernel before it, so that a
// missing wait gives a wrong number.

#ifndef KOKKOS_HOST_SPACES_TESTS_DEPENDENT_LAUNCHES_HPP
#define KOKKOS_HOST_SPACES_TESTS_DEPENDENT_LAUNCHES_HPP

#include "../Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <Kokkos_Graph.hpp>

#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>

namespace DependentLaunches {

using OnDevice = Kokkos::View<double*, Kokkos::CudaSpace>;
using Pinned   = Kokkos::View<double*, KokkosHostSpaces::PinnedSpace>;
using Number   = Kokkos::View<double, Kokkos::CudaSpace>;
using Node     = Kokkos::Experimental::GraphNodeRef<Kokkos::Cuda>;

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

struct Term {
  OnDevice a;
  Number before;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const { sum += a(i) + before(); }
};

inline KokkosHostSpaces::VectorPolicy<Kokkos::Cuda> all(Kokkos::Cuda const& instance,
                                                        OnDevice const& a) {
  return {instance, 0, std::int64_t(a.extent(0))};
}

inline void shift(Kokkos::Cuda const& instance, OnDevice const& a, OnDevice const& b) {
  Kokkos::parallel_for("there", all(instance, a), Shift{a, b});
  Kokkos::parallel_for("back", all(instance, a), Shift{b, a});
}

inline Node then_shift(Node const& node, OnDevice const& from, OnDevice const& to) {
  return node.then_parallel_for("shift", all(Kokkos::Cuda(), from), Shift{from, to});
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
