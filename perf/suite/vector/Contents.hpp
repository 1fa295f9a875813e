// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Contents of the arrays: small whole numbers, so that float is exact, too.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_CONTENTS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_VECTOR_CONTENTS_HPP

#include "VectorBaseline.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace KokkosHostSpaces::Perf {

template <class T>
struct Contents {
  KOKKOS_FUNCTION static T a(std::int64_t i) { return T(1 + i % 7); }
  KOKKOS_FUNCTION static T b(std::int64_t i) { return T(2 + i % 5); }
  KOKKOS_FUNCTION static T c_before(std::int64_t i) { return T(i % 3); }

  /// c(i) after `runs` runs, which matter only for operations that read c.
  KOKKOS_FUNCTION static T c_after(VectorOperation op, std::int64_t i, std::int64_t runs) {
    T const s = T(scale_factor);
    switch (op) {
      case VectorOperation::copy: return a(i);
      case VectorOperation::scale: return s * a(i);
      case VectorOperation::add: return a(i) + b(i);
      case VectorOperation::triad: return a(i) + s * b(i);
      case VectorOperation::nstream: return c_before(i) + T(runs) * (a(i) + s * b(i));
      case VectorOperation::axpy: return c_before(i) + T(runs) * s * a(i);
      default: return T(0);
    }
  }

  static bool is_right_sum(VectorOperation op, std::int64_t n, T sum) {
    double expected = 0;
    auto const term = [op](std::int64_t i) {
      return a(i) * (op == VectorOperation::dot ? b(i) : a(i));
    };
    std::int64_t const period = 35;
    for (std::int64_t i = 0; i < period; ++i) expected += double(term(i));
    expected *= double(n / period);
    for (std::int64_t i = n - n % period; i < n; ++i) expected += double(term(i));
    double const tolerance = sizeof(T) == 8 ? 1e-12 : 1e-4;
    return std::abs(double(sum) - expected) <= tolerance * expected;
  }
};

// Functions with lambdas are static: nvcc calls a __host__ __device__ lambda by a pointer of its own
// source, so that a kernel of one source crashes in another.

template <class ExecutionSpace>
using Elements = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// Fills the inputs, adjacent arrays of `n` elements each.
template <class T, class ExecutionSpace>
static void fill(VectorArguments<T> const& first, std::int64_t arrays, std::int64_t n,
                 ExecutionSpace const& instance) {
  Kokkos::parallel_for(
      "fill", Elements<ExecutionSpace>(instance, 0, arrays * n), KOKKOS_LAMBDA(std::int64_t j) {
        first.a[j] = Contents<T>::a(j % n);
        first.b[j] = Contents<T>::b(j % n);
      });
  instance.fence();
}

/// Resets what the operation writes: to the state before the first run, or to poison.
template <class T, class ExecutionSpace>
static void reset_results(VectorOperation op, VectorArguments<T> const& first, std::int64_t arrays,
                          std::int64_t n, ExecutionSpace const& instance) {
  bool const c_is_read = reads_c(op);
  T const poison       = std::numeric_limits<T>::quiet_NaN();
  Kokkos::parallel_for(
      "reset", Elements<ExecutionSpace>(instance, 0, is_sum(op) ? 0 : arrays * n),
      KOKKOS_LAMBDA(std::int64_t j) {
        first.c[j] = c_is_read ? Contents<T>::c_before(j % n) : poison;
      });
  Kokkos::parallel_for(
      "poison", Elements<ExecutionSpace>(instance, 0, is_sum(op) ? arrays : 0),
      KOKKOS_LAMBDA(std::int64_t k) { first.sum[k] = poison; });
  instance.fence();
}

/// Corrupts one result.
template <class T, class ExecutionSpace>
static void spoil(VectorOperation op, VectorArguments<T> const& at, std::int64_t n,
                  ExecutionSpace const& instance) {
  bool const sum = is_sum(op);
  Kokkos::parallel_for(
      "spoil", Elements<ExecutionSpace>(instance, 0, 1),
      KOKKOS_LAMBDA(std::int64_t) { (sum ? at.sum[0] : at.c[n - 1]) = T(-1); });
  instance.fence();
}

/// Counts wrong elements, or wrong sums, after `runs` runs on each array.
template <class T, class ExecutionSpace>
static std::int64_t count_wrong(VectorOperation op, VectorArguments<T> const& first,
                                std::int64_t arrays, std::int64_t n, std::int64_t runs,
                                ExecutionSpace const& instance) {
  std::int64_t wrong = 0;
  if (is_sum(op)) {
    Kokkos::View<T*, typename ExecutionSpace::memory_space,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>> const sums(first.sum, arrays);
    auto const on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
    for (std::int64_t k = 0; k < arrays; ++k)
      wrong += !Contents<T>::is_right_sum(op, n, on_host(k));
    return wrong;
  }
  Kokkos::parallel_reduce(
      "count_wrong", Elements<ExecutionSpace>(instance, 0, arrays * n),
      KOKKOS_LAMBDA(std::int64_t j, std::int64_t & count) {
        count += !(first.c[j] == Contents<T>::c_after(op, j % n, runs));
      },
      wrong);
  return wrong;
}

}  // namespace KokkosHostSpaces::Perf

#endif
