// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LIMITS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LIMITS_HPP

#include "Ranks.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct Limit {
  /// to_device, to_host, both, two_to_one (parts to the device and to the host at once), the same
  /// with all_ of all devices of a process that uses several, device_memory, host_memory
  std::string name;
  double bytes_per_second;  ///< of all ranks, and all directions together
};

/// What the links and the memory of this machine can do while all ranks use them at once, by plain
/// copies of large blocks; takes one or two seconds, quick a quarter of that.
/// \param of_all_devices whether links of all devices are wanted, too
std::vector<Limit> measure_limits(Ranks const& ranks, bool quick, bool of_all_devices);

}  // namespace KokkosHostSpaces::Perf

#endif
