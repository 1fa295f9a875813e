// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Bodies of loops. They have pointers, since Views make the parameters of a kernel longer.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_FUNCTORS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_FUNCTORS_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace KokkosHostSpaces::Perf {

template <class Op, class T, int inputs>
struct InputsOf {
  T const* in[inputs];
  KOKKOS_FUNCTION T value(std::int64_t i) const {
    if constexpr (inputs == 1) return Op()(in[0][i]);
    if constexpr (inputs == 2) return Op()(in[0][i], in[1][i]);
    if constexpr (inputs == 3) return Op()(in[0][i], in[1][i], in[2][i]);
  }
};

template <class Op, class T, int inputs>
struct MapBody {
  T* c;
  InputsOf<Op, T, inputs> in;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { c[i] = in.value(i); }
};

template <class Op, class T, int inputs>
struct TermOfSum {
  InputsOf<Op, T, inputs> in;
  KOKKOS_FUNCTION void operator()(std::int64_t i, T& sum) const { sum += in.value(i); }
};

}  // namespace KokkosHostSpaces::Perf

#endif
