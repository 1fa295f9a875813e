// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_BEST_VARIANT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_BEST_VARIANT_HPP

#include "../support/Statistics.hpp"

#include <limits>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Chooses the variant of a baseline with the least median of some samples, and returns its name.
/// \param warm_up runs the chosen variant once, outside of a gate: the first launch loads the kernel,
///        which waits for the device
/// \param sample returns the seconds of one run of the chosen variant
/// \param step tries each step-th variant
template <class Baseline, class WarmUp, class Sample>
std::string choose_best_variant(Baseline& baseline, int samples, WarmUp warm_up, Sample sample,
                                int step = 1) {
  std::vector<std::string> const variants = baseline.variants();
  double best                             = std::numeric_limits<double>::infinity();
  int chosen                              = 0;
  for (int variant = 0; variant < int(variants.size()); variant += step) {
    baseline.choose(variant);
    warm_up();
    if (variants.size() == 1) break;
    std::vector<double> seconds;
    for (int i = 0; i < samples; ++i) seconds.push_back(sample());
    double const median = summarize(seconds).median;
    if (median < best) {
      best   = median;
      chosen = variant;
    }
  }
  baseline.choose(chosen);
  return variants[std::size_t(chosen)];
}

}  // namespace KokkosHostSpaces::Perf

#endif
