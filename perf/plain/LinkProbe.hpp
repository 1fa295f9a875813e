// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_LINK_PROBE_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_LINK_PROBE_HPP

#include <cstddef>
#include <functional>

namespace KokkosHostSpaces::Perf {

/// Bytes per second, the medians of repetitions.
struct LinkRates {
  double to_device = 0, to_host = 0;
  double both           = 0;  ///< the sum of both directions at once
  double zero_copy_read = 0;  ///< by a kernel that adds up the elements in place
  bool verified         = false;
};

/// Copies between the current device and page-locked memory: from the first half of `host` and to
/// its second half. Each of the four rates takes `seconds`, or one repetition if that is longer.
/// `while_busy` is called once while data crosses the link. \throw std::runtime_error
LinkRates measure_link(void* host, std::size_t bytes, double seconds,
                       std::function<void()> const& while_busy);

}  // namespace KokkosHostSpaces::Perf

#endif
