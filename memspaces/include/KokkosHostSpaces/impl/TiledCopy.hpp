// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel that carries a Tiling out, a team for each tile.

#ifndef KOKKOS_HOST_SPACES_IMPL_TILED_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_TILED_COPY_HPP

#include <KokkosHostSpaces/impl/Tiling.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

struct alignas(16) LongWord {
  std::uint64_t low, high;
};

template <class Word>
struct TiledCopy {
  Tiling tiling;
  char* dst;
  char const* src;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    Tiling const& t = tiling;
    std::size_t i   = std::size_t(team.league_rank());
    // The first of the indices into tiles is the fastest.
    std::size_t const in_plane = i % (t.tiles_dst * t.tiles_src);
    i /= t.tiles_dst * t.tiles_src;
    std::size_t const d0 =
        t.side_dst * (t.dst_first ? in_plane % t.tiles_dst : in_plane / t.tiles_src);
    std::size_t const s0 =
        t.side_src * (t.dst_first ? in_plane / t.tiles_dst : in_plane % t.tiles_src);
    char* to         = dst + d0 * t.along_dst.dst_stride + s0 * t.along_src.dst_stride;
    char const* from = src + d0 * t.along_dst.src_stride + s0 * t.along_src.src_stride;
    for (int k = 0; k < t.other_loops; ++k) {
      std::size_t const index = i % t.others[k].extent;
      i /= t.others[k].extent;
      to += index * t.others[k].dst_stride;
      from += index * t.others[k].src_stride;
    }
    std::uint32_t const along_dst = shorter(t.side_dst, t.along_dst.extent - d0);
    std::uint32_t const along_src = shorter(t.side_src, t.along_src.extent - s0);
    turn(team, to, from, along_dst, along_src);
  }

 private:
  KOKKOS_FUNCTION static std::uint32_t shorter(std::uint32_t side, std::size_t left) {
    return left < side ? std::uint32_t(left) : side;
  }

  // Threads that are neighbours read neighbours, and then write neighbours.
  template <class Team>
  KOKKOS_FUNCTION void turn(Team const& team, char* to, char const* from, std::uint32_t along_dst,
                            std::uint32_t along_src) const {
    std::uint32_t const pitch = tiling.pitch, words = along_dst * along_src;
    std::uint32_t const threads = std::uint32_t(team.team_size());
    std::uint32_t const first   = std::uint32_t(team.team_rank());
    auto* const tile            = static_cast<Word*>(
        team.team_scratch(0).get_shmem_aligned(tiling.bytes_of_tile, sizeof(Word)));
    for (std::uint32_t i = first; i < words; i += threads) {
      std::uint32_t const s = i % along_src, d = i / along_src;
      tile[s * pitch + d] = *reinterpret_cast<Word const*>(from + s * tiling.along_src.src_stride +
                                                           d * tiling.along_dst.src_stride);
    }
    team.team_barrier();
    for (std::uint32_t i = first; i < words; i += threads) {
      std::uint32_t const d = i % along_dst, s = i / along_dst;
      *reinterpret_cast<Word*>(to + s * tiling.along_src.dst_stride +
                               d * tiling.along_dst.dst_stride) = tile[s * pitch + d];
    }
  }
};

/// Of a team. It may begin at any multiple of 8.
template <class Word>
std::size_t scratch_bytes(Tiling const& tiling) {
  return tiling.bytes_of_tile + sizeof(Word);
}

template <class Word, class ExecutionSpace>
void launch_tiled_copy(ExecutionSpace const& instance, Tiling const& tiling, void* dst,
                       void const* src, int team_size) {
  Kokkos::TeamPolicy<ExecutionSpace> policy(instance, int(tiling.tiles), team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(int(scratch_bytes<Word>(tiling))));
  Kokkos::parallel_for(
      "Kokkos::deep_copy: tile by tile", policy,
      TiledCopy<Word>{tiling, static_cast<char*>(dst), static_cast<char const*>(src)});
}

/// Enqueues the copy on `instance` and returns; its kernels reach both sides.
template <class ExecutionSpace>
void run_tiled_copy(ExecutionSpace const& instance, Tiling const& tiling, void* dst,
                    void const* src, int team_size) {
  switch (tiling.word) {
    case 1: return launch_tiled_copy<std::uint8_t>(instance, tiling, dst, src, team_size);
    case 2: return launch_tiled_copy<std::uint16_t>(instance, tiling, dst, src, team_size);
    case 4: return launch_tiled_copy<std::uint32_t>(instance, tiling, dst, src, team_size);
    case 8: return launch_tiled_copy<std::uint64_t>(instance, tiling, dst, src, team_size);
    default: return launch_tiled_copy<LongWord>(instance, tiling, dst, src, team_size);
  }
}

}  // namespace KokkosHostSpaces::Impl

#endif
