// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Contents of the copied arrays: each element is its own index in the source.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_CONTENTS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_CONTENTS_HPP

#include "CopyBaseline.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>

namespace KokkosHostSpaces::Perf {

// Functions with lambdas are static: nvcc calls a __host__ __device__ lambda by a pointer of its own
// source, so that a kernel of one source crashes in another.

template <class ExecutionSpace>
using Indices = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// One end of a copy: the place of element (r, c) of array k.
struct Placement {
  std::int64_t span, row_stride, column_stride;  ///< in elements
  bool scattered = false;                        ///< rows in the order of scattered_row
  bool planes    = false;                        ///< a gap of rows_of_plane rows behind as many

  KOKKOS_FUNCTION std::int64_t at(std::int64_t k, std::int64_t r, std::int64_t c) const {
    std::int64_t const row = scattered ? r ^ (r >> 1) : planes ? r + r / of_plane * of_plane : r;
    return k * span + row * row_stride + c * column_stride;
  }

 private:
  static constexpr auto of_plane = std::int64_t(rows_of_plane);
};

inline Placement placement(CopyShape const& shape, bool on_host, bool source) {
  std::int64_t const rows = std::int64_t(shape.rows), columns = std::int64_t(shape.columns);
  if (shape.layout == CopyLayout::transposed && source) return {rows * columns, 1, rows};
  if (shape.layout == CopyLayout::strided && on_host) return {2 * rows * columns, 2 * columns, 1};
  if (shape.layout == CopyLayout::strided_3d && on_host)
    return {4 * rows * columns, 2 * columns, 1, false, true};
  if (shape.layout == CopyLayout::scattered && on_host)
    return {2 * rows * columns, 2 * columns, 1, true};
  return {rows * columns, columns, 1};
}

template <class ExecutionSpace>
static void number(ExecutionSpace const& instance, double* values, std::int64_t n) {
  Kokkos::parallel_for(
      "number", Indices<ExecutionSpace>(instance, 0, n),
      KOKKOS_LAMBDA(std::int64_t i) { values[i] = double(i); });
  instance.fence();
}

template <class ExecutionSpace>
static void poison(ExecutionSpace const& instance, double* values, std::int64_t n) {
  double const poison = std::numeric_limits<double>::quiet_NaN();
  Kokkos::parallel_for(
      "poison", Indices<ExecutionSpace>(instance, 0, n),
      KOKKOS_LAMBDA(std::int64_t i) { values[i] = poison; });
  instance.fence();
}

/// Counts elements that differ from their place in the source, in `count` arrays from `first` on (modulo
/// `arrays`), and poisons all of them.
template <class ExecutionSpace>
static std::int64_t count_wrong_and_poison(ExecutionSpace const& instance, double* destination,
                                           CopyShape const& shape, Placement const& to,
                                           Placement const& from, std::int64_t first,
                                           std::int64_t count, std::int64_t arrays) {
  std::int64_t const columns = std::int64_t(shape.columns), n = std::int64_t(shape.elements());
  double const poison = std::numeric_limits<double>::quiet_NaN();
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "count_wrong", Indices<ExecutionSpace>(instance, 0, count * n),
      KOKKOS_LAMBDA(std::int64_t j, std::int64_t & wrong) {
        std::int64_t const k = (first + j / n) % arrays, r = j % n / columns, c = j % columns;
        double& value = destination[to.at(k, r, c)];
        wrong += !(value == double(from.at(k, r, c)));
        value = poison;
      },
      result);
  return result;
}

}  // namespace KokkosHostSpaces::Perf

#endif
