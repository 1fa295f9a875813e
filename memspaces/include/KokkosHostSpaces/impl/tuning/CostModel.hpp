// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_COST_MODEL_HPP
#define KOKKOS_HOST_SPACES_IMPL_COST_MODEL_HPP

#include <KokkosHostSpaces/impl/tuning/LinkRates.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The cost of one argument of a streamed loop.
struct ArgumentCost {
  std::size_t to_device = 0, to_host = 0;  ///< bytes that staging copies in a call
  double fraction = 1;                     ///< part of these bytes that kernels touch, 0 to 1

  /// The argument is on the device already: staging copies none of its bytes.
  bool resident = false;
};

/// The cost of a streamed loop, or of a chain of loops, for the choice of its transport.
struct LoopCost {
  std::vector<ArgumentCost> arguments;
  int passes         = 1;  ///< kernels over the data; in place each crosses the link
  std::size_t chunks = 1;  ///< when staged; 0: unknown, staging is assumed as fast as possible

  /// The reason why kernels cannot work in place, such as '"b" is pageable'; empty: they can.
  std::string not_in_place = {};
};

struct TransportEstimate {
  double staged_seconds, zero_copy_seconds;  ///< infinite: not possible
  bool zero_copy;                            ///< the faster of both
};

/// Estimates the seconds of both transports.
///
/// Staged: the link carries each byte once while kernels work in device memory; the longer of the
/// two counts. The copy in of the first chunk and the copy out of the last one overlap with
/// nothing. Zero-copy: each pass carries the bytes that it touches. The time of the link for a mix
/// of directions is interpolated linearly between the measured mixes.
TransportEstimate estimate_transports(LoopCost const& loop, LinkRates const& rates);

/// Explains the estimates and the choice in a sentence without its full stop. Slower than
/// estimate_transports.
std::string explain_transports(LoopCost const& loop, LinkRates const& rates);

/// Returns the seconds in which copies carry both numbers of bytes at once over the link.
double copy_seconds(double to_device, double to_host, LinkRates const& rates);

/// Returns the seconds in which a kernel reads and writes these numbers of bytes in place.
double in_place_seconds(double read, double written, LinkRates const& rates);

}  // namespace KokkosHostSpaces::Impl

#endif
