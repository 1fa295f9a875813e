// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_STATISTICS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_STATISTICS_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Median and quartiles of a sample: robust against single disturbed repetitions.
struct Summary {
  double minimum = 0, lower_quartile = 0, median = 0, upper_quartile = 0, maximum = 0;
};

/// Quantile of at least one sorted value, interpolated linearly.
inline double quantile(std::vector<double> const& values, double q) {
  double const position   = q * double(values.size() - 1);
  std::size_t const below = static_cast<std::size_t>(position);
  std::size_t const above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - double(below)) * (values[above] - values[below]);
}

inline Summary summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0), quantile(values, 0.25), quantile(values, 0.5),
          quantile(values, 0.75), quantile(values, 1)};
}

}  // namespace KokkosHostSpaces::Perf

#endif
