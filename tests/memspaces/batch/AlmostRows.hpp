// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Slices that are rows, or nearly so, for random tests.

#ifndef KOKKOS_HOST_SPACES_TESTS_ALMOST_ROWS_HPP
#define KOKKOS_HOST_SPACES_TESTS_ALMOST_ROWS_HPP

#include "CopyBatchCases.hpp"

#include <KokkosHostSpaces/impl/batch/SliceSweep.hpp>

#include <cstring>
#include <limits>
#include <random>

namespace CopyBatches {

using KokkosHostSpaces::Slice;

// Rows of any arrays of the memory, of which half the lists have something that others do not have.
class AlmostRows {
 public:
  AlmostRows(Memory& memory, unsigned seed) : m_memory(memory), m_random(seed) {}

  void choose() {
    std::size_t const element = std::size_t(1) << below(4), room = m_memory.bytes / element;
    m_arrays = {{m_memory.device, room}, {m_memory.host, room}, element, {}};
    switch (below(4)) {
      case 0:  // the same memory, of which a side begins later
        m_arrays.dst = {m_memory.host + element * below(64), room - 64};
        m_arrays.src = {m_memory.host + element * below(64), room - 64};
        break;
      case 1:  // to the host
        m_arrays.dst.begin = m_memory.host;
        m_arrays.src.begin = m_memory.device;
        break;
      default: break;
    }
    choose_slices();
    if (below(2) == 0) change();
    m_arrays.slices = m_slices;
  }

  ArraySlices const& arrays() const { return m_arrays; }
  std::vector<CopyPiece> pieces() const {
    std::vector<CopyPiece> all;
    for (std::size_t i = 0; i < m_slices.size(); ++i) all.push_back(m_arrays.piece(i));
    return all;
  }
  bool are_in_arrays() const {
    return std::all_of(m_slices.begin(), m_slices.end(),
                       [this](Slice const& slice) { return m_arrays.has(slice); });
  }
  std::size_t below(std::size_t n) { return std::size_t(m_random() % n); }

 private:
  void choose_slices() {
    std::size_t const counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 2 + below(40)};
    std::size_t const count = counts[below(std::size(counts))], length = 1 + below(12);
    auto const begin_and_step = [&](std::size_t extent) {
      std::size_t const most = std::min<std::size_t>(40, extent / (count + 1)),
                        step = below(3) == 0 ? length : std::max(length, below(most + 1));
      return std::pair(below(extent - std::min(extent - 1, (count - 1) * step + length)), step);
    };
    auto const [dst, dst_step] = begin_and_step(m_arrays.dst.extent);
    auto const [src, src_step] = begin_and_step(m_arrays.src.extent);
    m_slices.clear();
    for (std::size_t i = 0; i < count; ++i)
      m_slices.push_back({dst + i * dst_step, src + i * src_step, length});
  }

  void change() {
    Slice& any = m_slices[below(m_slices.size())];
    switch (below(14)) {
      case 0: any.count = 0; break;
      case 1: any.count += 1; break;
      case 2: m_slices.back().count -= 1; break;
      case 3: any.dst += 1; break;
      case 4: m_slices.back().src += 1; break;
      case 5: any = m_slices.front(); break;
      case 6: std::reverse(m_slices.begin(), m_slices.end()); break;
      case 7: std::swap(any, m_slices.back()); break;
      case 8: any.dst = m_arrays.dst.extent - any.count + below(2); break;
      case 9: any.src = std::numeric_limits<std::size_t>::max() - below(3); break;
      case 10: m_slices.push_back(any); break;
      case 11: m_arrays.dst.extent = m_slices.back().dst + m_slices.back().count - 1; break;
      case 12: m_arrays.src.extent = m_slices.back().src + m_slices.back().count - 1; break;
      default:
        for (Slice& slice : m_slices) slice.src = any.src;
    }
  }

  Memory& m_memory;
  std::mt19937_64 m_random;
  std::vector<Slice> m_slices;
  ArraySlices m_arrays{};
};

// By their definition, pair by pair.
inline bool are_rows(std::vector<CopyPiece> const& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].bytes == 0 || pieces[i].bytes != pieces[0].bytes) return false;
    if (i == 0) continue;
    std::ptrdiff_t const to     = pieces[i].dst - pieces[i - 1].dst,
                         from   = pieces[i].src - pieces[i - 1].src,
                         length = std::ptrdiff_t(pieces[0].bytes);
    if (to != pieces[1].dst - pieces[0].dst || from != pieces[1].src - pieces[0].src) return false;
    if (to < length || from < length || (to == length && from == length)) return false;
  }
  return true;
}

inline void copy_one_by_one(std::vector<CopyPiece> const& pieces) {
  for (CopyPiece const& piece : pieces) std::memmove(piece.dst, piece.src, piece.bytes);
}

// Those that are made: a slice of the same memory on both sides is not.
inline CopyBatch batch_of(std::vector<CopyPiece> const& pieces, CopyBatch::Neighbours neighbours) {
  CopyBatch batch(neighbours);
  for (CopyPiece const& piece : pieces)
    if (piece.dst != piece.src) batch.add(piece);
  return batch;
}

// Does a piece lie in two registrations? A View does not, but several may.
inline bool is_split(Memory const& memory, std::vector<CopyPiece> const& pieces) {
  std::ptrdiff_t const of_each = std::ptrdiff_t(memory.bytes / memory.locked.size());
  auto const side_is_split     = [&](char const* begin, std::size_t bytes) {
    std::ptrdiff_t const first = begin - memory.host;
    bool const is_on_host      = first >= 0 && first < std::ptrdiff_t(memory.bytes);
    return is_on_host && first / of_each != (first + std::ptrdiff_t(bytes) - 1) / of_each;
  };
  return std::any_of(pieces.begin(), pieces.end(), [&](CopyPiece const& piece) {
    return piece.bytes > 0 &&
           (side_is_split(piece.dst, piece.bytes) || side_is_split(piece.src, piece.bytes));
  });
}

}  // namespace CopyBatches

#endif
