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

/// A team takes so much of a piece at once: two loads of 16 bytes by each of 256 threads.
inline constexpr std::size_t part_of_piece = 8192;

/// So many threads at most, which leaves the device to others: a fourth carries what the link does.
inline constexpr std::size_t most_threads_of_pieces = 65536;

/// What a kernel has to know of a piece.
struct PieceEnds {
  char* dst;
  char const* src;
  std::size_t bytes;
};

/// A list among the arguments of a kernel: to read it costs no round trip over the link (2 us).
struct FewPieces {
  static constexpr std::size_t most = 64;
  PieceEnds pieces[most];

  KOKKOS_FUNCTION PieceEnds const& operator[](std::size_t i) const { return pieces[i]; }
};

/// By the longest words that both addresses allow, and the rest by bytes.
/// \tparam List FewPieces, or PieceEnds const* in memory that the kernel reaches
template <class List>
struct PieceCopy {
  List list;
  std::uint32_t parts;      ///< of a piece
  std::uint32_t all_parts;  ///< of all

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto const teams = std::uint32_t(team.league_size());
    for (auto part = std::uint32_t(team.league_rank()); part < all_parts; part += teams) {
      PieceEnds const piece = list[part / parts];
      copy_part(team, piece, std::size_t(part % parts) * part_of_piece);
    }
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION static void copy_part(Team const& team, PieceEnds const& piece,
                                        std::size_t begin) {
    if (begin >= piece.bytes) return;
    std::size_t const left  = piece.bytes - begin;
    std::size_t const bytes = left < part_of_piece ? left : part_of_piece;
    auto const addresses =
        reinterpret_cast<std::uintptr_t>(piece.dst) | reinterpret_cast<std::uintptr_t>(piece.src);
    char* const to         = piece.dst + begin;
    char const* const from = piece.src + begin;
    if (addresses % sizeof(LongWord) == 0)
      copy<LongWord>(team, to, from, bytes);
    else if (addresses % sizeof(std::uint64_t) == 0)
      copy<std::uint64_t>(team, to, from, bytes);
    else if (addresses % sizeof(std::uint32_t) == 0)
      copy<std::uint32_t>(team, to, from, bytes);
    else
      copy<std::uint8_t>(team, to, from, bytes);
  }

  template <class Word, class Team>
  KOKKOS_FUNCTION static void copy(Team const& team, char* dst, char const* src,
                                   std::size_t bytes) {
    constexpr std::uint32_t loads = loads_at_once(sizeof(Word));
    auto const size = std::uint32_t(bytes), words = size / std::uint32_t(sizeof(Word)),
               step = std::uint32_t(team.team_size()), first = std::uint32_t(team.team_rank());
    auto* const to         = reinterpret_cast<Word*>(dst);
    auto const* const from = reinterpret_cast<Word const*>(src);
    std::uint32_t i        = first;
    for (; i + (loads - 1) * step < words; i += loads * step) {
      Word loaded[loads];
      for (std::uint32_t k = 0; k < loads; ++k) loaded[k] = from[i + k * step];
      for (std::uint32_t k = 0; k < loads; ++k) to[i + k * step] = loaded[k];
    }
    for (; i < words; i += step) to[i] = from[i];
    for (i = words * std::uint32_t(sizeof(Word)) + first; i < size; i += step) dst[i] = src[i];
  }
};

/// Enqueues the copies on `instance`, whose kernels reach all of it, and returns.
/// \param longest of the pieces, in bytes
template <class ExecutionSpace, class List>
void run_piece_copy(ExecutionSpace const& instance, List const& list, std::size_t count,
                    std::size_t longest, int team_size) {
  std::size_t const parts = (longest + part_of_piece - 1) / part_of_piece, all = count * parts;
  std::size_t const most = most_threads_of_pieces / std::size_t(team_size);
  Kokkos::parallel_for(
      "KokkosHostSpaces::deep_copy_all: short pieces",
      Kokkos::TeamPolicy<ExecutionSpace>(instance, int(all < most ? all : most), team_size),
      PieceCopy<List>{list, std::uint32_t(parts), std::uint32_t(all)});
}

}  // namespace KokkosHostSpaces::Impl

#endif
