// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/copy/Tiling.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t longest_word = 16;

// One instruction copies a word, so addresses and strides must be multiples of it.
bool is_aligned(CopyPlan const& plan, std::size_t addresses) {
  std::size_t all = addresses;
  for (int i = 0; i < plan.loops; ++i) all |= plan.dst_stride[i] | plan.src_stride[i];
  return all % plan.run_bytes == 0;
}

// Tiles are square, except where an extent is shorter than a side: a tile has all of it, and is
// longer along the other loop.
void choose_sides(Tiling& t) {
  std::size_t const side = std::max(copy_thresholds_in_use().least_side_of_tile,
                                    copy_thresholds_in_use().tile_line_bytes / t.word);
  std::size_t const area = std::max(side * side, copy_thresholds_in_use().words_beside_short_side);
  auto const beside      = [&](std::size_t shorter) { return area / shorter / side * side; };
  std::size_t const of_dst = t.along_dst.extent, of_src = t.along_src.extent;
  std::size_t const dst = of_dst < side ? of_dst : of_src < side ? beside(of_src) : side;
  std::size_t const src = of_src < side ? of_src : of_dst < side ? beside(of_dst) : side;
  t.side_dst            = std::uint32_t(std::min(dst, of_dst));
  t.side_src            = std::uint32_t(std::min(src, of_src));
  t.pitch               = t.side_dst | 1u;
  t.bytes_of_tile       = std::size_t(t.pitch) * t.side_src * t.word;
}

}  // namespace

std::optional<Tiling> make_tiling(CopyPlan const& plan, std::size_t addresses, bool dst_first) {
  if (plan.loops < 2 || plan.run_bytes > longest_word || !std::has_single_bit(plan.run_bytes) ||
      !is_aligned(plan, addresses))
    return std::nullopt;
  Tiling t;
  t.word       = plan.run_bytes;
  t.dst_first  = dst_first;
  bool has_dst = false, has_src = false;
  for (int i = 0; i < plan.loops; ++i) {
    Tiling::Loop const loop{plan.extent[i], plan.dst_stride[i], plan.src_stride[i]};
    if (loop.dst_stride == 0) return std::nullopt;
    if (!has_dst && loop.dst_stride == t.word) {
      t.along_dst = loop;
      has_dst     = true;
    } else if (!has_src && loop.src_stride == t.word) {
      t.along_src = loop;
      has_src     = true;
    } else {
      t.others[t.other_loops++] = loop;
    }
  }
  if (!has_dst || !has_src) return std::nullopt;
  choose_sides(t);
  t.tiles_dst = (t.along_dst.extent + t.side_dst - 1) / t.side_dst;
  t.tiles_src = (t.along_src.extent + t.side_src - 1) / t.side_src;
  t.tiles     = t.tiles_dst * t.tiles_src;
  for (int i = 0; i < t.other_loops; ++i) t.tiles *= t.others[i].extent;
  // Kokkos' loop over teams adds two indices as int.
  if (t.tiles > std::size_t(std::numeric_limits<int>::max() / 2)) return std::nullopt;
  return t;
}

}  // namespace KokkosHostSpaces::Impl
