// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_FUNCTORS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_FUNCTORS_HPP

#include "VectorBaseline.hpp"

#include <Kokkos_Core.hpp>

namespace KokkosHostSpaces::Perf {

// Operations on one element, for element_wise and element_sum.

template <class T>
struct Same {
  KOKKOS_FUNCTION T operator()(T a) const { return a; }
};
template <class T>
struct Scaled {
  KOKKOS_FUNCTION T operator()(T a) const { return T(scale_factor) * a; }
};
template <class T>
struct Sum {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Triad {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return a + T(scale_factor) * b; }
};
template <class T>
struct Nstream {
  KOKKOS_FUNCTION T operator()(T c, T a, T b) const { return c + a + T(scale_factor) * b; }
};
template <class T>
struct Axpy {
  KOKKOS_FUNCTION T operator()(T c, T a) const { return c + T(scale_factor) * a; }
};
template <class T>
struct Product {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return a * b; }
};
template <class T>
struct Square {
  KOKKOS_FUNCTION T operator()(T a) const { return a * a; }
};

// Body of a parallel_for. Pointers, since Views make the parameters of a kernel longer.
template <class Op, class T, int inputs>
struct MapBody {
  T* c;
  T const* in[inputs];
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (inputs == 1) c[i] = Op()(in[0][i]);
    if constexpr (inputs == 2) c[i] = Op()(in[0][i], in[1][i]);
    if constexpr (inputs == 3) c[i] = Op()(in[0][i], in[1][i], in[2][i]);
  }
};

}  // namespace KokkosHostSpaces::Perf

#endif
