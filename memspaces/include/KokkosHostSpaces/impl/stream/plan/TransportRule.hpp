// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The rule by which a streamed loop is staged, or works in place.

#ifndef KOKKOS_HOST_SPACES_IMPL_TRANSPORT_RULE_HPP
#define KOKKOS_HOST_SPACES_IMPL_TRANSPORT_RULE_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl {

/// The choice for a loop that can work in place.
struct TransportChoice {
  bool in_place;
  std::string why;  ///< what it follows from, as a part of a sentence
};

/// Arrays of this size take as long in place as staged. On an H200 with PCIe 5, 29 of 30 loops
/// without a halo, from 16 KiB to 64 MiB, took the faster transport by these two numbers.
inline constexpr std::size_t in_place_bytes = std::size_t(8) << 20;
inline constexpr double in_place_part       = 0.5;

/// Chooses by the shape of a loop: staging carries each element over the link once, whether it is
/// touched or not, and costs time to begin and to end.
/// \param coherent the device reaches all memory of the host coherently
TransportChoice choose_transport(StreamShape const& shape, bool coherent);

}  // namespace KokkosHostSpaces::Impl

#endif
