// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LIMITS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LIMITS_HPP

#include "Ranks.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct Limit {
  /// to_device, to_host, both, two_to_one (two parts to the device and one to the host at once);
  /// the same with the prefix all_, over all devices of the process; device_memory, host_memory
  std::string name;
  double bytes_per_second;  ///< sum over all ranks and directions
};

/// Measures the bandwidth of links and memory by plain copies of large blocks, all ranks at once. Takes one
/// or two seconds, a quarter of that if `quick`.
/// \param of_all_devices also measures the links of all devices at once
std::vector<Limit> measure_limits(Ranks const& ranks, bool quick, bool of_all_devices);

}  // namespace KokkosHostSpaces::Perf

#endif
