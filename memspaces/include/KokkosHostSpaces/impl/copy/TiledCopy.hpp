// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel that copies by a Tiling: one team for each tile.

#ifndef KOKKOS_HOST_SPACES_IMPL_TILED_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_TILED_COPY_HPP

#include <KokkosHostSpaces/impl/copy/Tiling.hpp>
#include <KokkosHostSpaces/impl/core/ByteCopy.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// The words of a tile that one thread of a team copies, in lines of `line` words.
class WalkOverTile {
 public:
  KOKKOS_FUNCTION WalkOverTile(std::uint32_t first, std::uint32_t step, std::uint32_t line)
      : along(first % line),
        across(first / line),
        m_line(line),
        m_along(step % line),
        m_across(step / line) {}
  /// Advances by one step, without a division.
  KOKKOS_FUNCTION void go_on() {
    along += m_along;
    across += m_across;
    if (along >= m_line) {
      along -= m_line;
      ++across;
    }
  }

  std::uint32_t along, across;

 private:
  std::uint32_t m_line, m_along, m_across;
};

template <class Word>
struct TiledCopy {
  char* dst;
  char const* src;
  Tiling tiling;

  // make_tiling limits the number of tiles to what an int can count.
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    Tiling const& t             = tiling;
    auto i                      = std::uint32_t(team.league_rank());
    auto const fast             = std::uint32_t(t.dst_first ? t.tiles_dst : t.tiles_src),
               slow             = std::uint32_t(t.dst_first ? t.tiles_src : t.tiles_dst);
    std::uint32_t const in_fast = i % fast;
    i /= fast;
    std::uint32_t const in_slow = i % slow;
    i /= slow;
    std::size_t const d0 = std::size_t(t.side_dst) * (t.dst_first ? in_fast : in_slow);
    std::size_t const s0 = std::size_t(t.side_src) * (t.dst_first ? in_slow : in_fast);
    char* to             = dst + d0 * t.along_dst.dst_stride + s0 * t.along_src.dst_stride;
    char const* from     = src + d0 * t.along_dst.src_stride + s0 * t.along_src.src_stride;
    for (int k = 0; k < t.other_loops; ++k) {
      auto const extent         = std::uint32_t(t.others[k].extent);
      std::uint32_t const index = i % extent;
      i /= extent;
      to += index * t.others[k].dst_stride;
      from += index * t.others[k].src_stride;
    }
    auto* const tile =
        static_cast<Word*>(team.team_scratch(0).get_shmem_aligned(t.bytes_of_tile, sizeof(Word)));
    Part const part{std::uint32_t(team.team_rank()), std::uint32_t(team.team_size()),
                    shorter(t.side_dst, t.along_dst.extent - d0),
                    shorter(t.side_src, t.along_src.extent - s0)};
    read(part, tile, from);
    team.team_barrier();
    write(part, to, tile);
  }

 private:
  struct Part {
    std::uint32_t first, threads;        ///< of the team
    std::uint32_t along_dst, along_src;  ///< words of the tile
  };

  KOKKOS_FUNCTION static std::uint32_t shorter(std::uint32_t side, std::size_t left) {
    return left < side ? std::uint32_t(left) : side;
  }

  // Neighbouring threads read neighbouring words of the source, and write those of the destination.
  KOKKOS_FUNCTION void read(Part const& part, Word* tile, char const* from) const {
    constexpr std::uint32_t loads = loads_at_once(sizeof(Word));
    std::uint32_t const words     = part.along_dst * part.along_src;
    auto const load               = [&](WalkOverTile const& at) {
      return *reinterpret_cast<Word const*>(from + at.along * tiling.along_src.src_stride +
                                            at.across * tiling.along_dst.src_stride);
    };
    auto const keep = [&](WalkOverTile const& at, Word const& word) {
      tile[at.along * tiling.pitch + at.across] = word;
    };
    WalkOverTile at(part.first, part.threads, part.along_src);
    std::uint32_t i = part.first;
    for (; i + (loads - 1) * part.threads < words; i += loads * part.threads) {
      WalkOverTile loaded_at = at;
      Word loaded[loads];
      for (std::uint32_t k = 0; k < loads; ++k, at.go_on()) loaded[k] = load(at);
      for (std::uint32_t k = 0; k < loads; ++k, loaded_at.go_on()) keep(loaded_at, loaded[k]);
    }
    for (; i < words; i += part.threads, at.go_on()) keep(at, load(at));
  }

  KOKKOS_FUNCTION void write(Part const& part, char* to, Word const* tile) const {
    std::uint32_t const words = part.along_dst * part.along_src;
    WalkOverTile at(part.first, part.threads, part.along_dst);
    for (std::uint32_t i = part.first; i < words; i += part.threads, at.go_on())
      *reinterpret_cast<Word*>(to + at.across * tiling.along_src.dst_stride +
                               at.along * tiling.along_dst.dst_stride) =
          tile[at.across * tiling.pitch + at.along];
  }
};

/// Scratch memory of a team in bytes. It may begin at any multiple of 8.
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
      TiledCopy<Word>{static_cast<char*>(dst), static_cast<char const*>(src), tiling});
}

/// Enqueues a tiled copy on `instance` and returns. Kernels of the instance reach both sides.
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

/// Enqueues a copy for which make_tiling finds tiles on `instance` and returns. Compiled once, in src/.
void enqueue_tiled_copy(DrivenDevice const& instance, void* dst, void const* src,
                        CopyPlan const& plan, bool device_reads_host_memory);

}  // namespace KokkosHostSpaces::Impl

#endif
