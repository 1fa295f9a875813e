// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The quick way for a batch: one pass writes the list that a kernel reads, and tells whether that
// may have it as it is. Whatever is not plain is for CopyBatch. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_PIECE_SWEEP_HPP
#define KOKKOS_HOST_SPACES_IMPL_PIECE_SWEEP_HPP

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// Where a piece begins: bytes from where the first one does. A third of two addresses and a length,
/// which a kernel would read over the link.
struct NearEnds {
  std::int32_t dst, src;
};

/// Pieces whose ends lie within 2 GiB of those of the first.
struct NearPieces {
  char* dst;
  char const* src;
  NearEnds const* ends;
  std::uint32_t const* lengths;
  std::size_t count, longest;
  std::uint32_t offsets;  ///< all of `ends`, by a bitwise or
  std::uint32_t reach;    ///< none of `ends` is further from 0, either way
  bool are_equally_long;

  /// Its zeros at the end are those of all addresses.
  std::uintptr_t alignment() const {
    return reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | offsets;
  }

  /// The same of other memory. Count 0: it is not plain, since one would write what another one
  /// reads.
  NearPieces at(char* other_dst, char const* other_src) const;
};

/// Made for thousands of pieces: each costs the host 2 ns, of which most is reading its Views.
class PieceSweep {
 public:
  static constexpr std::size_t most_pieces  = std::size_t(1) << 16;
  static constexpr std::size_t most_of_call = 32;  ///< that may go by one call of the driver

  /// Of pieces the first of which begins at `dst` and `src`; writes to `ends` and `lengths`.
  PieceSweep(char* dst, char const* src, NearEnds* ends, std::uint32_t* lengths)
      : m_first_dst(dst), m_first_src(src), m_ends(ends), m_lengths(lengths) {}

  /// The next piece. False: it is not plain, since it is empty or long, or lies far away.
  bool add(char* dst, char const* src, std::size_t bytes) {
    std::int64_t const to = dst - m_first_dst, from = src - m_first_src;
    if (bytes - 1 >= most_bytes || to != std::int32_t(to) || from != std::int32_t(from))
      return false;
    m_ends[m_count]      = {std::int32_t(to), std::int32_t(from)};
    m_lengths[m_count++] = std::uint32_t(bytes);
    return true;
  }

  /// The same, but an empty one is left out, and one that continues the one before becomes part of it.
  bool add_or_merge(char* dst, char const* src, std::size_t bytes) {
    if (bytes == 0) return true;
    if (dst != m_dst_end || src != m_src_end) {
      if (!add(dst, src, bytes)) return false;
    } else {
      if (m_lengths[m_count - 1] + bytes > most_bytes) return false;
      m_lengths[m_count - 1] += std::uint32_t(bytes);
    }
    m_dst_end = dst + bytes;
    m_src_end = src + bytes;
    return true;
  }

  /// What was added, in the order it came in. Count 0: it is not plain, since pieces may depend on
  /// each other, or be rows or neighbours.
  NearPieces finish() const;

 private:
  static constexpr std::size_t most_bytes = std::size_t(1) << 30;

  char* m_first_dst;
  char const* m_first_src;
  NearEnds* m_ends;
  std::uint32_t* m_lengths;
  std::size_t m_count   = 0;
  char* m_dst_end       = nullptr;  ///< of what was added or merged
  char const* m_src_end = nullptr;
};

/// Are pieces those of a list, if of other memory? Then it need neither be written nor checked.
class PieceComparison {
 public:
  /// With pieces the first of which begins at `dst` and `src`.
  PieceComparison(NearPieces const& list, char* dst, char const* src)
      : m_dst(dst), m_src(src), m_ends(list.ends), m_lengths(list.lengths) {}

  /// Is it the next one? Not more than there are.
  bool add(char* dst, char const* src, std::size_t bytes) {
    NearEnds const ends = *m_ends++;
    return dst - m_dst == ends.dst && src - m_src == ends.src && bytes == *m_lengths++;
  }

 private:
  char* m_dst;
  char const* m_src;
  NearEnds const* m_ends;
  std::uint32_t const* m_lengths;
};

/// Does each piece continue the one before, so that all are one copy?
class PieceRun {
 public:
  PieceRun(char* dst, char const* src) : m_dst(dst), m_src(src), m_dst_end(dst), m_src_end(src) {}

  bool add(char* dst, char const* src, std::size_t bytes) {
    if (dst != m_dst_end || src != m_src_end) return false;
    m_dst_end += bytes;
    m_src_end += bytes;
    return true;
  }
  std::size_t bytes() const { return std::size_t(m_dst_end - m_dst); }
  /// Does it not write what it reads?
  bool sides_are_apart() const { return m_dst_end <= m_src || m_src_end <= m_dst; }

 private:
  char* m_dst;
  char const* m_src;
  char* m_dst_end;
  char const* m_src_end;
};

}  // namespace KokkosHostSpaces::Impl

#endif
