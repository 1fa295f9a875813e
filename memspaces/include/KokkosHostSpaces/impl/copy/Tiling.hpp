// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A copy between two orders of dimensions, cut into tiles. Each side walks one of the loops without
// gaps: a tile covers both, so that it is read along the source's lines, turned in the memory of a
// team, and written along the destination's.

#ifndef KOKKOS_HOST_SPACES_IMPL_TILING_HPP
#define KOKKOS_HOST_SPACES_IMPL_TILING_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace KokkosHostSpaces::Impl {

struct Tiling {
  static constexpr int max_loops = CopyPlan::max_loops;

  /// One of the two loops of a tile, or of those around tiles.
  struct Loop {
    std::size_t extent     = 1;
    std::size_t dst_stride = 0, src_stride = 0;  ///< bytes
  };

  std::size_t word = 0;  ///< bytes that stay together: 1, 2, 4, 8 or 16
  Loop along_dst;        ///< where neighbours are neighbours in the destination, ...
  Loop along_src;        ///< ... and in the source

  std::uint32_t side_dst = 0, side_src = 0;  ///< of a tile, in words
  std::size_t tiles_dst = 0, tiles_src = 0;  ///< along the two loops
  std::size_t tiles = 0;                     ///< of all
  bool dst_first    = false;                 ///< tiles follow each other along_dst

  /// Words between lines of a tile in the team's memory: odd, so that neighbours down a column lie
  /// in different banks.
  std::uint32_t pitch       = 0;
  std::size_t bytes_of_tile = 0;  ///< there

  // Behind what every tile needs: a kernel's arguments come line by line.
  int other_loops = 0;
  Loop others[max_loops];  ///< around them
};

/// \param addresses of both sides, or-ed
/// \param dst_first whether the destination is the side whose lines shall be written one after the
///        other: that over the link
/// \return nothing if the sides do not differ in this way, or are not aligned to their words
std::optional<Tiling> make_tiling(CopyPlan const& plan, std::size_t addresses, bool dst_first);

}  // namespace KokkosHostSpaces::Impl

#endif
