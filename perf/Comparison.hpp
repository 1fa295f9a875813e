// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_COMPARISON_HPP
#define KOKKOS_HOST_SPACES_PERF_COMPARISON_HPP

#include "Options.hpp"
#include "Statistics.hpp"
#include "twins/Side.hpp"

#include <cstddef>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// One operation by one transport on arrays of one size, by Kokkos and by the plain twin.
struct Comparison {
  Operation operation;
  Transport transport;
  std::size_t bytes;  ///< of one array
  Summary kokkos_seconds;
  Summary twin_seconds;
  Summary ratio;  ///< time of the twin / time of Kokkos in the same repetition
  std::size_t wrong_kokkos = 0;
  std::size_t wrong_twin   = 0;

  bool verified() const { return wrong_kokkos == 0 && wrong_twin == 0; }

  /// Bytes of the arrays that the operation reads and writes, per second.
  double rate(double seconds) const { return arrays_moved(operation) * double(bytes) / seconds; }
};

/// Vector kernels by every transport on arrays from 4 KiB on, and, where there is a device, the
/// transfers of page-locked memory alone.
std::vector<Comparison> run_comparisons(Options const& options);

}  // namespace KokkosHostSpaces::Perf

#endif
