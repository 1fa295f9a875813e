// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_TIMING_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_TIMING_HPP

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

namespace Example {

/// Shortest of `repeats` runs of `work`, in seconds, from its submission until `instance` is done.
/// One run before them warms up.
template <class ExecutionSpace, class Work>
double best_seconds(ExecutionSpace const& instance, int repeats, Work const& work) {
  work();
  double best = std::numeric_limits<double>::max();
  for (int r = 0; r < repeats; ++r) {
    instance.fence("Example::best_seconds: before");
    Kokkos::Timer timer;
    work();
    instance.fence("Example::best_seconds: after");
    best = std::min(best, timer.seconds());
  }
  return best;
}

/// 4096 as "4 KiB".
inline std::string bytes_text(std::size_t bytes) {
  char const* const units[] = {" B", " KiB", " MiB", " GiB"};
  int unit                  = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + units[unit];
}

}  // namespace Example

#endif
