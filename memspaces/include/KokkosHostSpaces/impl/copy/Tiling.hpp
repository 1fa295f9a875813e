// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A tiled transposition: a copy between two orders of dimensions, cut into tiles. Each side walks
// one loop without gaps, and a tile covers both loops: a team reads it along the lines of the
// source, and writes it along those of the destination.

#ifndef KOKKOS_HOST_SPACES_IMPL_TILING_HPP
#define KOKKOS_HOST_SPACES_IMPL_TILING_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace KokkosHostSpaces::Impl {

struct Tiling {
  static constexpr int max_loops = CopyPlan::max_loops;

  /// A loop of a tile, or around tiles.
  struct Loop {
    std::size_t extent     = 1;
    std::size_t dst_stride = 0, src_stride = 0;  ///< bytes
  };

  std::size_t word = 0;  ///< bytes that are copied together: 1, 2, 4, 8 or 16
  Loop along_dst;        ///< the loop that the destination walks without gaps, ...
  Loop along_src;        ///< ... and the one of the source

  std::uint32_t side_dst = 0, side_src = 0;  ///< of a tile, in words
  std::size_t tiles_dst = 0, tiles_src = 0;  ///< along the two loops
  std::size_t tiles = 0;                     ///< of all
  bool dst_first    = false;                 ///< consecutive tiles lie along_dst

  /// Words between lines of a tile in the team's memory: odd, so that the words of a column lie in
  /// different banks.
  std::uint32_t pitch       = 0;
  std::size_t bytes_of_tile = 0;  ///< in the team's memory

  // Last, because a kernel loads its arguments line by line and seldom needs these.
  int other_loops = 0;
  Loop others[max_loops];  ///< around tiles
};

/// Cuts a copy into tiles.
///
/// \param addresses of both sides, or-ed
/// \param dst_first consecutive tiles lie along the destination: true if that is across the link
/// \return nothing if the sides have the same order of dimensions, or are not aligned to their
/// words
std::optional<Tiling> make_tiling(CopyPlan const& plan, std::size_t addresses, bool dst_first);

}  // namespace KokkosHostSpaces::Impl

#endif
