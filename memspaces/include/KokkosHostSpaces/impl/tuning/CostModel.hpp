// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_COST_MODEL_HPP
#define KOKKOS_HOST_SPACES_IMPL_COST_MODEL_HPP

#include <KokkosHostSpaces/impl/tuning/LinkRates.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// What one argument of a streamed loop costs.
struct ArgumentCost {
  std::size_t to_device = 0, to_host = 0;  ///< bytes that staging copies, once in a call
  double fraction = 1;                     ///< of these bytes that kernels touch, from 0 to 1

  /// It lies on the device already: staging copies nothing of it.
  bool resident = false;
};

/// A streamed loop, or chain of loops, as the choice of its transport needs to know it.
struct LoopCost {
  std::vector<ArgumentCost> arguments;
  int passes         = 1;  ///< kernels over the data; in place each of them crosses the link
  std::size_t chunks = 1;  ///< when staged; 0: not known, so staging is thought as fast as can be

  /// Why kernels cannot work in place, as '"b" is pageable'; empty: they can.
  std::string not_in_place = {};
};

struct TransportEstimate {
  double staged_seconds, zero_copy_seconds;  ///< infinite: not possible
  bool zero_copy;                            ///< the choice: the faster one
};

/// Estimates both transports.
///
/// Staged: the link carries every byte once, kernels work in device memory meanwhile; the longer
/// counts. The first chunk's way in and the last one's way out overlap with nothing. Zero-copy:
/// each pass carries what it touches. The time of a link for a mix of directions is interpolated,
/// between the mixes that were measured, as if it switched between them.
TransportEstimate estimate_transports(LoopCost const& loop, LinkRates const& rates);

/// The estimates, the choice and why, as a sentence without its full stop. Takes longer than a
/// small loop's estimate may.
std::string explain_transports(LoopCost const& loop, LinkRates const& rates);

/// Seconds of a link to carry both amounts of bytes at once, by copies.
double copy_seconds(double to_device, double to_host, LinkRates const& rates);

/// The same for kernels in place.
double in_place_seconds(double read, double written, LinkRates const& rates);

}  // namespace KokkosHostSpaces::Impl

#endif
