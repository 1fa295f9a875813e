// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_STATISTICS_HPP
#define KOKKOS_HOST_SPACES_PERF_STATISTICS_HPP

#include "Json.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Median and spread of a sample; robust against the odd disturbed repetition.
struct Summary {
  double minimum = 0, lower_quartile = 0, median = 0, upper_quartile = 0, maximum = 0;
};

/// Of at least one value, in order; interpolated linearly between neighbours.
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

inline void write(Json& json, std::string const& key, Summary const& summary) {
  json.open('{', key);
  json.value("minimum", summary.minimum);
  json.value("lower_quartile", summary.lower_quartile);
  json.value("median", summary.median);
  json.value("upper_quartile", summary.upper_quartile);
  json.value("maximum", summary.maximum);
  json.close('}');
}

}  // namespace KokkosHostSpaces::Perf

#endif
