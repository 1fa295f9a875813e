// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_CONTEXT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_CONTEXT_HPP

#include "Options.hpp"
#include "Ranks.hpp"

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Adds machine, build, options, the place of each rank and the limits of links to the context of
/// the results. A collective call of all ranks; Kokkos must be initialised.
/// \param cores those that this rank is bound to
void describe_context(SuiteOptions const& options, Ranks const& ranks, std::string const& cores);

struct Limit {
  /// to_device, to_host, both, two_to_one (two parts to the device and one to the host at once);
  /// the same with the prefix all_, over all devices of the process
  std::string name;
  double bytes_per_second;  ///< sum over all ranks and directions
};

/// Measures the bandwidth of links by plain copies of large blocks, all ranks at once. Takes one
/// or two seconds, a quarter of that if `quick`.
/// \param of_all_devices also measures the links of all devices at once
std::vector<Limit> measure_limits(Ranks const& ranks, bool quick, bool of_all_devices);

/// Binds this process to its share of the cores nearest to its device (without a device, of all cores),
/// unless the launcher has bound it already. Call it before any thread is created.
/// \return the cores it may run on, such as "0-15"; empty if hwloc does not know the machine
std::string bind_to_cores(Ranks const& ranks);

}  // namespace KokkosHostSpaces::Perf

#endif
