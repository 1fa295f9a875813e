// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel for many short copies: a few threads for each.

#ifndef KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP

#include <KokkosHostSpaces/VectorPolicy.hpp>
#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>
#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// Of a piece so much is taken at once: two loads of 16 bytes by each of 256 threads.
inline constexpr std::size_t part_of_piece  = 8192;
inline constexpr std::uint32_t most_of_part = 256;

/// So many threads at most, which leaves the device to others: a fourth carries what the link does.
/// Half as many if the list is read over the link, since each then does more pieces, whose ends
/// neighbours read at once: fewer reads (what that saves was not measured apart from the rest).
inline constexpr std::size_t most_threads_of_pieces = 65536;
template <class List>
inline constexpr std::size_t most_threads_of = most_threads_of_pieces;

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

/// A list of which a kernel reads as little as can be.
class NearList {
 public:
  explicit NearList(NearPieces const& pieces)
      : m_dst(pieces.dst),
        m_src(pieces.src),
        m_ends(pieces.ends),
        m_lengths(pieces.are_equally_long ? nullptr : pieces.lengths),
        m_length(std::uint32_t(pieces.longest)) {}

  KOKKOS_FUNCTION PieceEnds operator[](std::size_t i) const {
    NearEnds const ends = m_ends[i];
    return {m_dst + ends.dst, m_src + ends.src, m_lengths == nullptr ? m_length : m_lengths[i]};
  }

 private:
  char* m_dst;
  char const* m_src;
  NearEnds const* m_ends;
  std::uint32_t const* m_lengths;  ///< nullptr: all of m_length
  std::uint32_t m_length;
};

template <>
inline constexpr std::size_t most_threads_of<NearList> = most_threads_of_pieces / 2;

/// What is to be known of a list, as long as it is.
class PieceList {
 public:
  PieceList() = default;
  explicit PieceList(NearPieces const& pieces)
      : m_count(pieces.count), m_longest(pieces.longest), m_addresses(pieces.alignment()) {}
  void add(PieceEnds const& piece) {
    ++m_count;
    m_longest = std::max(m_longest, piece.bytes);
    m_addresses |=
        reinterpret_cast<std::uintptr_t>(piece.dst) | reinterpret_cast<std::uintptr_t>(piece.src);
  }
  std::size_t count() const { return m_count; }
  /// Parts of the longest piece.
  std::size_t parts() const { return (m_longest + part_of_piece - 1) / part_of_piece; }
  /// One for each word of a part, so that neighbours among threads read neighbours in memory; a
  /// power of two.
  std::uint32_t threads_of_part() const {
    std::size_t const word  = std::size_t(1) << std::min(std::countr_zero(m_addresses), 4),
                      words = (std::min(m_longest, part_of_piece) + word - 1) / word;
    return std::min(std::bit_ceil(std::uint32_t(words)), most_of_part);
  }

 private:
  std::size_t m_count = 0, m_longest = 1;
  std::uintptr_t m_addresses = 0;
};

/// By the longest words that both addresses allow, and the rest by bytes.
/// \tparam List FewPieces, or NearList or PieceEnds const* in memory that the kernel reaches
template <class List>
class PieceCopy {
 public:
  PieceCopy(List const& list, PieceList const& known)
      : m_list(list),
        m_parts(std::uint32_t(known.parts())),
        m_all_parts(std::uint32_t(known.count() * known.parts())),
        m_at_once(std::uint32_t(
            std::min<std::size_t>(m_all_parts, most_threads_of<List> / known.threads_of_part()))),
        m_shift(std::uint32_t(std::countr_zero(known.threads_of_part()))),
        m_share((m_all_parts + m_at_once - 1) / m_at_once) {}

  /// Whole warps.
  std::uint32_t threads() const {
    return ((m_at_once << m_shift) + warp_size - 1) / warp_size * warp_size;
  }

  KOKKOS_FUNCTION void operator()(std::uint32_t thread) const {
    if constexpr (std::is_same_v<List, NearList>) KOKKOS_IF_ON_DEVICE((return copy_share(thread);))
    std::uint32_t const step = std::uint32_t(1) << m_shift;
    Lane const lane{thread & (step - 1), step};
    for (std::uint32_t part = thread >> m_shift; part < m_all_parts; part += m_at_once)
      if (m_parts == 1)
        copy_part(m_list[part], 0, lane);
      else
        copy_part(m_list[part / m_parts], std::size_t(part % m_parts) * part_of_piece, lane);
  }

 private:
  struct Lane {
    std::uint32_t first, step;
  };

  // What `lane` of each `lanes` of a warp knows.
  KOKKOS_FUNCTION static PieceEnds told_by([[maybe_unused]] std::uint32_t lane,
                                           [[maybe_unused]] std::uint32_t lanes,
                                           PieceEnds const& ends) {
    KOKKOS_IF_ON_DEVICE((return from_lane(ends, lane, lanes);))
    KOKKOS_IF_ON_HOST((return ends;))
  }

  // Parts one behind the other: each lane reads the ends of one, and all get them from it. Lanes of
  // a warp, which may be of several parts, go through the loops together.
  KOKKOS_FUNCTION void copy_share(std::uint32_t thread) const {
    std::uint32_t const step = std::uint32_t(1) << m_shift, first = (thread >> m_shift) * m_share;
    std::uint32_t const lanes = step < warp_size ? step : warp_size, lane = thread & (lanes - 1);
    Lane const of_part{thread & (step - 1), step};
    for (std::uint32_t done = 0; done < m_share; done += lanes) {
      std::uint32_t const mine = first + done + lane;
      PieceEnds ends{nullptr, nullptr, 0};
      if (done + lane < m_share && mine < m_all_parts) ends = m_list[mine / m_parts];
      for (std::uint32_t k = 0; k < lanes && done + k < m_share; ++k) {
        std::uint32_t const part = first + done + k;
        copy_part(told_by(k, lanes, ends), std::size_t(part % m_parts) * part_of_piece, of_part);
      }
    }
  }

  KOKKOS_FUNCTION static void copy_part(PieceEnds const& piece, std::size_t begin, Lane lane) {
    if (begin >= piece.bytes) return;
    std::size_t const left  = piece.bytes - begin;
    std::size_t const bytes = left < part_of_piece ? left : part_of_piece;
    auto const addresses =
        reinterpret_cast<std::uintptr_t>(piece.dst) | reinterpret_cast<std::uintptr_t>(piece.src);
    char* const to         = piece.dst + begin;
    char const* const from = piece.src + begin;
    if (addresses % sizeof(LongWord) == 0)
      copy<LongWord>(lane, to, from, bytes);
    else if (addresses % sizeof(std::uint64_t) == 0)
      copy<std::uint64_t>(lane, to, from, bytes);
    else if (addresses % sizeof(std::uint32_t) == 0)
      copy<std::uint32_t>(lane, to, from, bytes);
    else
      copy<std::uint8_t>(lane, to, from, bytes);
  }

  template <class Word>
  KOKKOS_FUNCTION static void copy(Lane lane, char* dst, char const* src, std::size_t bytes) {
    constexpr std::uint32_t loads = loads_at_once(sizeof(Word));
    auto const size = std::uint32_t(bytes), words = size / std::uint32_t(sizeof(Word)),
               step        = lane.step;
    auto* const to         = reinterpret_cast<Word*>(dst);
    auto const* const from = reinterpret_cast<Word const*>(src);
    std::uint32_t i        = lane.first;
    for (; i + (loads - 1) * step < words; i += loads * step) {
      Word loaded[loads];
      for (std::uint32_t k = 0; k < loads; ++k) loaded[k] = from[i + k * step];
      for (std::uint32_t k = 0; k < loads; ++k) to[i + k * step] = loaded[k];
    }
    for (; i < words; i += step) to[i] = from[i];
    for (i = words * std::uint32_t(sizeof(Word)) + lane.first; i < size; i += step) dst[i] = src[i];
  }

  List m_list;
  std::uint32_t m_parts;      ///< of a piece
  std::uint32_t m_all_parts;  ///< of all
  std::uint32_t m_at_once;    ///< parts
  std::uint32_t m_shift;      ///< 2^m_shift threads for a part
  std::uint32_t m_share;      ///< parts one behind the other, where those threads do such
};

template <class ExecutionSpace>
using PieceCopyPolicy = VectorPolicy<ExecutionSpace, Kokkos::IndexType<std::uint32_t>>;

inline std::string const& piece_copy_label() {
  static std::string const label = "KokkosHostSpaces::deep_copy_all: short pieces";
  return label;
}

/// Enqueues the copies on `instance`, whose kernels reach all of it, and returns.
template <class ExecutionSpace, class List>
void run_piece_copy(ExecutionSpace const& instance, PieceCopy<List> const& copy) {
  Kokkos::parallel_for(piece_copy_label(),
                       PieceCopyPolicy<ExecutionSpace>(instance, 0, copy.threads()), copy);
}

}  // namespace KokkosHostSpaces::Impl

#endif
