// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_LIMITS_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_LIMITS_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

struct Limit {
  std::string name;         ///< to_device, to_host, both, device_memory, host_memory
  double bytes_per_second;  ///< both: in the two directions together
};

/// What the links and the memory of this machine can do, by plain copies of large blocks; takes a
/// second.
std::vector<Limit> measure_limits();

}  // namespace KokkosHostSpaces::Perf

#endif
