// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel for many short copies, a team for each.

#ifndef KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP

#include <KokkosHostSpaces/impl/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/TiledCopy.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// Teams take so much of a piece each: together they have more on its way than the link carries in
/// a round trip (72 KB on PCIe 5), also of a few pieces.
inline constexpr std::size_t part_of_piece = 8192;

/// By the longest words that both addresses allow, and the rest by bytes.
struct PieceCopy {
  CopyPiece const* pieces;
  std::uint32_t parts;  ///< of each piece: its teams

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto const rank       = std::uint32_t(team.league_rank());
    CopyPiece const piece = pieces[rank / parts];
    Threads const threads{(rank % parts) * std::size_t(team.team_size()) + team.team_rank(),
                          std::size_t(parts) * team.team_size()};
    auto const addresses =
        reinterpret_cast<std::uintptr_t>(piece.dst) | reinterpret_cast<std::uintptr_t>(piece.src);
    if (addresses % sizeof(LongWord) == 0)
      copy<LongWord>(threads, piece);
    else if (addresses % sizeof(std::uint64_t) == 0)
      copy<std::uint64_t>(threads, piece);
    else if (addresses % sizeof(std::uint32_t) == 0)
      copy<std::uint32_t>(threads, piece);
    else
      copy<std::uint8_t>(threads, piece);
  }

 private:
  struct Threads {
    std::size_t first, number;  ///< of a piece
  };

  template <class Word>
  KOKKOS_FUNCTION static void copy(Threads const& threads, CopyPiece const& piece) {
    std::size_t const words = piece.bytes / sizeof(Word), step = threads.number;
    auto* const to         = reinterpret_cast<Word*>(piece.dst);
    auto const* const from = reinterpret_cast<Word const*>(piece.src);
    for (std::size_t i = threads.first; i < words; i += loads_at_once * step) {
      Word loaded[loads_at_once];
      for (std::uint32_t k = 0; k < loads_at_once; ++k)
        if (i + k * step < words) loaded[k] = from[i + k * step];
      for (std::uint32_t k = 0; k < loads_at_once; ++k)
        if (i + k * step < words) to[i + k * step] = loaded[k];
    }
    for (std::size_t i = words * sizeof(Word) + threads.first; i < piece.bytes; i += step)
      piece.dst[i] = piece.src[i];
  }
};

/// Enqueues the copies on `instance`, whose kernels reach all of it, and returns.
/// \param longest of the pieces, in bytes
template <class ExecutionSpace>
void run_piece_copy(ExecutionSpace const& instance, CopyPiece const* pieces, std::size_t count,
                    std::size_t longest, int team_size) {
  std::size_t const parts = (longest + part_of_piece - 1) / part_of_piece;
  Kokkos::parallel_for("KokkosHostSpaces::deep_copy_all: short pieces",
                       Kokkos::TeamPolicy<ExecutionSpace>(instance, int(count * parts), team_size),
                       PieceCopy{pieces, std::uint32_t(parts)});
}

}  // namespace KokkosHostSpaces::Impl

#endif
