// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the touched arrays contain, and how the results are checked.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_CONTENTS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_CONTENTS_HPP

#include "KokkosTouch.hpp"

namespace KokkosHostSpaces::Perf {

/// Small whole numbers, so that sums are exact. The twin's array differs from ours in `extra`, so
/// that neither can be taken for the other on the device.
KOKKOS_INLINE_FUNCTION double content(std::uint64_t element, int extra) {
  return double(element % 251 + extra);
}

using AllElements = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::uint64_t>>;

inline void fill(Execution const& instance, double* array, std::uint64_t elements, int extra) {
  Kokkos::parallel_for(
      "fill", AllElements(instance, 0, elements),
      KOKKOS_LAMBDA(std::uint64_t e) { array[e] = content(e, extra); });
  instance.fence();
}

/// Sums that are not those of their runs, added up `passes` times.
inline std::int64_t count_wrong_sums(Execution const& instance, double const* sums,
                                     TouchedRuns const& runs, int extra, std::int64_t passes) {
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "count_wrong_sums", AllElements(instance, 0, runs.touched),
      KOKKOS_LAMBDA(std::uint64_t run, std::int64_t & wrong) {
        double expected           = 0;
        std::uint64_t const first = first_element(runs, run);
        for (int i = 0; i < run_elements; ++i) expected += content(first + i, extra);
        wrong += !(sums[run] == double(passes) * expected);
      },
      result);
  return result;
}

/// Elements of the runs that are not value + their index.
inline std::int64_t count_wrong_elements(Execution const& instance, double const* array,
                                         TouchedRuns const& runs, double value) {
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "count_wrong_elements", AllElements(instance, 0, runs.touched * run_elements),
      KOKKOS_LAMBDA(std::uint64_t k, std::int64_t & wrong) {
        std::uint64_t const e = first_element(runs, k / run_elements) + k % run_elements;
        wrong += !(array[e] == value + double(e));
      },
      result);
  return result;
}

inline void spoil(Execution const& instance, double* value) {
  Kokkos::parallel_for(
      "spoil", AllElements(instance, 0, 1), KOKKOS_LAMBDA(std::uint64_t) { *value += 0.5; });
  instance.fence();
}

}  // namespace KokkosHostSpaces::Perf

#endif
