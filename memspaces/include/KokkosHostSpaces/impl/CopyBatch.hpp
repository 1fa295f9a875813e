// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many contiguous copies as few calls: neighbours are merged, equal pieces at equal distances go as
// the rows of a 2-D copy, and what is left by one call, by a kernel, or one by one. Knows nothing of
// Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_BATCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_BATCH_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

struct CopyPiece {
  char* dst;
  char const* src;
  std::size_t bytes;
  std::uint32_t pair;  ///< which pair of Views it is of, or the first of them
  bool pageable;       ///< no kernel reaches one of the sides
};

/// Does `piece` begin where `before` ends, on both sides?
inline bool continues(CopyPiece const& before, CopyPiece const& piece) {
  return piece.dst == before.dst + before.bytes && piece.src == before.src + before.bytes &&
         piece.pageable == before.pageable;
}

/// Pieces of equal length at equal distances.
struct CopyRows {
  std::size_t first, count;
};

class CopyBatch {
 public:
  enum class Neighbours {
    apart,  ///< merged, if at all, when the batch is enqueued
    merged  ///< as they are added: may_merge(stream) was true
  };

  /// What enqueue leaves to the caller.
  struct Rest {
    std::vector<CopyPiece> for_kernel;
    bool refused =
        false;  ///< neighbours lie in two allocations that touch: copy each pair by itself
  };

  explicit CopyBatch(Neighbours neighbours = Neighbours::apart, std::size_t expected_pieces = 0)
      : m_merges(neighbours == Neighbours::merged), m_expected(expected_pieces) {}

  /// Not while `stream` captures, since a call that is refused, as one that spans two allocations,
  /// is no good while a graph is made; nor where memory of other devices may take part: the driver
  /// takes what begins on a device for memory of that one.
  static bool may_merge(void* stream);

  void add(CopyPiece const& piece) {
    if (piece.bytes == 0) return;
    if (m_merges && !m_pieces.empty() && continues(m_pieces.back(), piece))
      m_pieces.back().bytes += piece.bytes;
    else
      push(piece);
  }
  void add(CopyBatch const& other) {
    m_pieces.insert(m_pieces.end(), other.m_pieces.begin(), other.m_pieces.end());
  }
  bool empty() const { return m_pieces.empty(); }

  /// By destination, as it has to be before enqueue.
  void sort();

  /// Two pairs of Views of which one writes what the other one reads or writes; if neighbours were
  /// merged, two pairs near them. Sorts.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> find_conflict();

  /// Enqueues all on `stream`, a cudaStream_t, but for pieces that shall go by a kernel. While the
  /// stream captures that are none, since the list of them would have to live as long as the graph,
  /// and each piece is copied by itself; so it is where memory of other devices takes part. After
  /// sort; the batch is used up.
  /// \param kernel_device where kernels run, which reach the memory of no other device; -1: there
  ///        are none
  Rest enqueue(void* stream, int kernel_device);

 private:
  void push(CopyPiece const& piece) {
    if (m_pieces.size() == 1) m_pieces.reserve(m_expected);  // they are no neighbours
    m_pieces.push_back(piece);
  }
  void merge();
  std::vector<CopyRows> find_rows(bool has_kernel) const;
  bool all_of_it_is_on(int device) const;
  bool copy_rows(CopyRows const& rows, void* stream) const;
  std::vector<CopyPiece> take_for_kernel();
  bool copy_at_once(void* stream) const;

  bool m_merges;
  std::size_t m_expected;
  std::vector<CopyPiece> m_pieces;
};

}  // namespace KokkosHostSpaces::Impl

#endif
