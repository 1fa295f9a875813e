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

/// By the longest words that both addresses allow, and the rest by bytes.
struct PieceCopy {
  CopyPiece const* pieces;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    CopyPiece const piece = pieces[team.league_rank()];
    auto const addresses =
        reinterpret_cast<std::uintptr_t>(piece.dst) | reinterpret_cast<std::uintptr_t>(piece.src);
    if (addresses % sizeof(LongWord) == 0)
      copy<LongWord>(team, piece);
    else if (addresses % sizeof(std::uint64_t) == 0)
      copy<std::uint64_t>(team, piece);
    else if (addresses % sizeof(std::uint32_t) == 0)
      copy<std::uint32_t>(team, piece);
    else
      copy<std::uint8_t>(team, piece);
  }

 private:
  template <class Word, class Team>
  KOKKOS_FUNCTION static void copy(Team const& team, CopyPiece const& piece) {
    std::size_t const words = piece.bytes / sizeof(Word), step = std::size_t(team.team_size());
    std::size_t const first = std::size_t(team.team_rank());
    auto* const to          = reinterpret_cast<Word*>(piece.dst);
    auto const* const from  = reinterpret_cast<Word const*>(piece.src);
    for (std::size_t i = first; i < words; i += step) to[i] = from[i];
    for (std::size_t i = words * sizeof(Word) + first; i < piece.bytes; i += step)
      piece.dst[i] = piece.src[i];
  }
};

/// Enqueues the copies on `instance`, whose kernels reach all of it, and returns.
template <class ExecutionSpace>
void run_piece_copy(ExecutionSpace const& instance, CopyPiece const* pieces, std::size_t count,
                    int team_size) {
  Kokkos::parallel_for("KokkosHostSpaces::deep_copy_all: short pieces",
                       Kokkos::TeamPolicy<ExecutionSpace>(instance, int(count), team_size),
                       PieceCopy{pieces});
}

}  // namespace KokkosHostSpaces::Impl

#endif
