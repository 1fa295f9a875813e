// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "TouchBaseline.hpp"

#include "../../plain/LoopsHost.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

void read(double const* array, double* sums, TouchedRuns const& runs) {
  for_each_index(runs.touched, [=](std::uint64_t run) {
    double const* const values =
        array + run_elements * (run * runs.all / runs.touched + runs.shift);
    double sum = 0;
    for (int e = 0; e < run_elements; ++e) sum += values[e];
    sums[run] += sum;
  });
}

}  // namespace

std::unique_ptr<TouchBaseline> make_touch_baseline(Stream) {
  return std::make_unique<TouchBaseline>(TouchBaseline::Variants{{"a loop", read}});
}

}  // namespace KokkosHostSpaces::Perf
