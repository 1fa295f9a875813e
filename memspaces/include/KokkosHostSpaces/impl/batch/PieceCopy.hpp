// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel for many short copies: some threads for each.

#ifndef KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP

#include <KokkosHostSpaces/VectorPolicy.hpp>
#include <KokkosHostSpaces/impl/batch/PieceTable.hpp>
#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace KokkosHostSpaces::Impl {

/// Bytes of the longest part into which the kernel cuts pieces: two loads of 16 bytes by each of
/// 256 threads.
inline constexpr std::size_t most_bytes_of_part     = 8192;
inline constexpr std::uint32_t most_threads_of_part = 256;

/// Threads of the kernel at most, to leave room for other kernels: a quarter of them keeps the link
/// busy.
inline constexpr std::size_t most_threads_of_parts = 65536;

/// Number of parts of all pieces.
inline std::size_t count_parts(std::span<Piece const> pieces) {
  std::size_t parts = 0;
  for (Piece const& piece : pieces)
    parts += (piece.bytes + most_bytes_of_part - 1) / most_bytes_of_part;
  return parts;
}

/// The properties of all parts by which the kernel is launched.
struct PartShape {
  std::size_t count = 0, longest = 1;
  std::uintptr_t addresses = 0;  ///< all of them, by a bitwise or

  /// Threads for one part: one for each word, so that neighbouring threads read neighbouring words;
  /// a power of two.
  std::uint32_t threads_of_part() const {
    std::size_t const word  = std::size_t(1) << std::min(std::countr_zero(addresses), 4),
                      words = (longest + word - 1) / word;
    return std::min(std::bit_ceil(std::uint32_t(words)), most_threads_of_part);
  }
};

/// Writes the parts of all pieces to `parts`.
inline PartShape cut_into_parts(std::span<Piece const> pieces, Piece* parts) {
  PartShape shape;
  for (Piece const& piece : pieces) {
    shape.addresses |=
        reinterpret_cast<std::uintptr_t>(piece.dst) | reinterpret_cast<std::uintptr_t>(piece.src);
    shape.longest = std::max(shape.longest, std::min(piece.bytes, most_bytes_of_part));
    for (std::size_t begin = 0; begin < piece.bytes; begin += most_bytes_of_part)
      parts[shape.count++] = {piece.dst + begin, piece.src + begin,
                              std::min(piece.bytes - begin, most_bytes_of_part)};
  }
  return shape;
}

/// A list passed as an argument of the kernel, which saves a round trip over the link (2 us).
struct FewParts {
  static constexpr std::size_t most = 64;
  Piece parts[most];

  KOKKOS_FUNCTION Piece const& operator[](std::size_t i) const { return parts[i]; }
};

/// Copies each part by the longest words that both addresses allow, and its rest by bytes.
/// \tparam List FewParts, or Piece const* in memory that the kernel reaches
template <class List>
class PieceCopy {
 public:
  PieceCopy(List const& list, PartShape const& shape)
      : m_list(list),
        m_count(std::uint32_t(shape.count)),
        m_at_once(
            std::uint32_t(std::min(shape.count, most_threads_of_parts / shape.threads_of_part()))),
        m_shift(std::uint32_t(std::countr_zero(shape.threads_of_part()))) {}

  /// Whole warps.
  std::uint32_t threads() const {
    return ((m_at_once << m_shift) + warp_size - 1) / warp_size * warp_size;
  }

  KOKKOS_FUNCTION void operator()(std::uint32_t thread) const {
    std::uint32_t const step = std::uint32_t(1) << m_shift, first = thread & (step - 1);
    for (std::uint32_t part = thread >> m_shift; part < m_count; part += m_at_once)
      copy_part(m_list[part], first, step);
  }

 private:
  KOKKOS_FUNCTION static void copy_part(Piece const& part, std::uint32_t first,
                                        std::uint32_t step) {
    auto const addresses =
        reinterpret_cast<std::uintptr_t>(part.dst) | reinterpret_cast<std::uintptr_t>(part.src);
    if (addresses % sizeof(LongWord) == 0)
      copy<LongWord>(part, first, step);
    else if (addresses % sizeof(std::uint64_t) == 0)
      copy<std::uint64_t>(part, first, step);
    else if (addresses % sizeof(std::uint32_t) == 0)
      copy<std::uint32_t>(part, first, step);
    else
      copy<std::uint8_t>(part, first, step);
  }

  template <class Word>
  KOKKOS_FUNCTION static void copy(Piece const& part, std::uint32_t first, std::uint32_t step) {
    constexpr std::uint32_t loads = loads_at_once(sizeof(Word));
    auto const size = std::uint32_t(part.bytes), words = size / std::uint32_t(sizeof(Word));
    auto* const to         = reinterpret_cast<Word*>(part.dst);
    auto const* const from = reinterpret_cast<Word const*>(part.src);
    std::uint32_t i        = first;
    for (; i + (loads - 1) * step < words; i += loads * step) {
      Word loaded[loads];
      for (std::uint32_t k = 0; k < loads; ++k) loaded[k] = from[i + k * step];
      for (std::uint32_t k = 0; k < loads; ++k) to[i + k * step] = loaded[k];
    }
    for (; i < words; i += step) to[i] = from[i];
    for (i = words * std::uint32_t(sizeof(Word)) + first; i < size; i += step)
      part.dst[i] = part.src[i];
  }

  List m_list;
  std::uint32_t m_count;    ///< parts
  std::uint32_t m_at_once;  ///< parts
  std::uint32_t m_shift;    ///< 2^m_shift threads for a part
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
