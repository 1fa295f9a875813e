// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The kernel that copies many short pieces, each by several threads.

#ifndef KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_PIECE_COPY_HPP

#include <KokkosHostSpaces/ParallelFor.hpp>
#include <KokkosHostSpaces/impl/batch/PieceTable.hpp>
#include <KokkosHostSpaces/impl/core/ByteCopy.hpp>

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

/// Upper bound of the threads of the kernel, which leaves room for other kernels: a quarter of it keeps
/// the link busy.
inline constexpr std::uint32_t most_threads_of_parts = 65536;

/// The parts of pieces, one after the other.
class PartsOf {
 public:
  explicit PartsOf(std::span<Piece const> pieces) : m_pieces(pieces) {
    for (Piece const& piece : pieces)
      m_left += (piece.bytes + most_bytes_of_part - 1) / most_bytes_of_part;
  }
  std::size_t left() const { return m_left; }

  Piece take() {
    Piece const& piece = m_pieces.front();
    Piece const part{piece.dst + m_begin, piece.src + m_begin,
                     std::min(piece.bytes - m_begin, most_bytes_of_part)};
    m_begin += part.bytes;
    if (m_begin == piece.bytes) {
      m_pieces = m_pieces.subspan(1);
      m_begin  = 0;
    }
    --m_left;
    return part;
  }

 private:
  std::span<Piece const> m_pieces;
  std::size_t m_left = 0, m_begin = 0;  ///< parts; bytes of the first piece that were taken
};

/// Copies each part by the longest words that both addresses allow, and its rest by bytes. Holds the
/// list of parts as a kernel argument: reads of a list in host memory would wait for the link behind
/// the writes of other threads.
/// \tparam most number of parts
template <std::uint32_t most>
class PieceCopy {
 public:
  /// Takes as many parts as it can hold. \pre parts.left() > 0
  explicit PieceCopy(PartsOf& parts) {
    std::uintptr_t addresses = 0;
    std::size_t longest      = 1;
    while (m_count < most && parts.left() > 0) {
      Piece const part = m_parts[m_count++] = parts.take();
      addresses |=
          reinterpret_cast<std::uintptr_t>(part.dst) | reinterpret_cast<std::uintptr_t>(part.src);
      longest = std::max(longest, part.bytes);
    }
    // A thread for each word, so that neighbouring threads read neighbouring words.
    std::size_t const word      = std::size_t(1) << std::min(std::countr_zero(addresses), 4);
    auto const words            = std::uint32_t((longest + word - 1) / word);
    std::uint32_t const of_part = std::min(std::bit_ceil(words), most_threads_of_part);
    m_at_once                   = std::min(m_count, most_threads_of_parts / of_part);
    m_shift                     = std::uint32_t(std::countr_zero(of_part));
  }

  /// Whole warps.
  std::uint32_t threads() const {
    return ((m_at_once << m_shift) + warp_size - 1) / warp_size * warp_size;
  }

  KOKKOS_FUNCTION void operator()(std::uint32_t thread) const {
    std::uint32_t const step = std::uint32_t(1) << m_shift, first = thread & (step - 1);
    for (std::uint32_t part = thread >> m_shift; part < m_count; part += m_at_once)
      copy_part(m_parts[part], first, step);
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

  std::uint32_t m_count   = 0;  ///< parts
  std::uint32_t m_at_once = 0;  ///< parts
  std::uint32_t m_shift   = 0;  ///< 2^m_shift threads for a part
  Piece m_parts[most];
};

/// Calls use(copy) with PieceCopy objects that together copy all pieces. Arguments of a kernel take at
/// most 32 KiB; the shorter they are, the less time a launch takes the host.
template <class Use>
void for_each_piece_copy(std::span<Piece const> pieces, Use const& use) {
  for (PartsOf parts(pieces); parts.left() > 0;)
    if (parts.left() <= 64)
      use(PieceCopy<64>(parts));
    else if (parts.left() <= 256)
      use(PieceCopy<256>(parts));
    else
      use(PieceCopy<1024>(parts));
}

inline std::string const& piece_copy_label() {
  static std::string const label = "KokkosHostSpaces::deep_copy_all: short pieces";
  return label;
}

/// Enqueues the copies on `instance`, whose kernels must reach both sides of all pieces.
template <class ExecutionSpace>
void run_piece_copies(ExecutionSpace const& instance, std::span<Piece const> pieces) {
  for_each_piece_copy(pieces, [&](auto const& copy) {
    parallel_for(piece_copy_label(), instance, copy.threads(), copy);
  });
}

}  // namespace KokkosHostSpaces::Impl

#endif
