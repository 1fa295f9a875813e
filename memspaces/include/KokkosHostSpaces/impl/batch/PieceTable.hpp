// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many contiguous copies as a table of addresses and lengths, and one scan that finds conflicts,
// neighbours and rows. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_PIECE_TABLE_HPP
#define KOKKOS_HOST_SPACES_IMPL_PIECE_TABLE_HPP

#include <cstddef>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// One contiguous copy.
struct Piece {
  char* dst;
  char const* src;
  std::size_t bytes;
};

/// Rows of one 2-D copy: row i begins i pitches behind the first row, on each side.
struct PieceRows {
  Piece first{};
  std::size_t count     = 0;  ///< 0: the pieces are not rows of equal length at equal distances
  std::size_t dst_pitch = 0;  ///< bytes
  std::size_t src_pitch = 0;  ///< bytes
};

/// The result of PieceTable::scan.
struct PieceScan {
  /// A byte that one piece writes, and another piece reads or writes; nullptr if there is none.
  char const* conflict = nullptr;
  std::size_t longest  = 0;  ///< bytes of the longest piece
  PieceRows rows;            ///< all pieces as rows, if they are
};

class PieceTable {
 public:
  void reserve(std::size_t pieces) { m_pieces.reserve(pieces); }

  /// Appends a piece, unless it is empty.
  void add(Piece const& piece) {
    if (piece.bytes > 0) m_pieces.push_back(piece);
  }
  void add(PieceTable const& other) {
    m_pieces.insert(m_pieces.end(), other.m_pieces.begin(), other.m_pieces.end());
  }

  bool empty() const { return m_pieces.empty(); }
  std::vector<Piece> const& pieces() const { return m_pieces; }
  std::vector<Piece> take() && { return std::move(m_pieces); }

  /// Sorts the pieces by destination, and finds a conflict, the longest piece and rows.
  /// \param merges joins pieces that are adjacent on both sides
  PieceScan scan(bool merges);

 private:
  char const* find_overlap(bool merges);
  char const* find_read_of_written() const;
  PieceRows find_rows() const;

  std::vector<Piece> m_pieces;
};

}  // namespace KokkosHostSpaces::Impl

#endif
