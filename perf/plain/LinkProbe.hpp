// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_LINK_PROBE_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_LINK_PROBE_HPP

#include <cstddef>
#include <functional>

namespace KokkosHostSpaces::Perf {

/// Medians of repetitions, in bytes per second.
struct LinkRates {
  double to_device = 0, to_host = 0;
  double both           = 0;  ///< the sum of both directions at once
  double zero_copy_read = 0;  ///< by a kernel that sums the elements in place
  bool verified         = false;
};

/// Measures copies between the current device and page-locked memory: from the first half of `host`, and to
/// its second half.
/// \param seconds time for each of the four rates; at least one repetition
/// \param while_busy called once while data crosses the link
/// \throw std::runtime_error if CUDA fails
LinkRates measure_link(void* host, std::size_t bytes, double seconds,
                       std::function<void()> const& while_busy);

}  // namespace KokkosHostSpaces::Perf

#endif
