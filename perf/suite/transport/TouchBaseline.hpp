// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_TRANSPORT_TOUCH_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_TRANSPORT_TOUCH_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstdint>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// Elements (doubles) of a run: 512 bytes.
inline constexpr int run_elements = 64;

/// Some runs of an array, evenly spread: the first element of run j is
/// run_elements (j all / touched + shift).
struct TouchedRuns {
  std::uint64_t all, touched, shift;
};

/// Plain kernels that read a part of an array: add the sum of run j to sums[j]. Variants: block sizes, scalar and
/// vectorised access.
class TouchBaseline final
    : public ByVariants<Baseline, void(double const*, double*, TouchedRuns const&)> {
 public:
  using ByVariants::ByVariants;
  void read(double const* array, double* sums, TouchedRuns const& runs) { call(array, sums, runs); }
};

std::unique_ptr<TouchBaseline> make_touch_baseline(Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
