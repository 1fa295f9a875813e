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
  std::uint32_t pair;  ///< which pair of Views it is of
  bool pageable;       ///< no kernel reaches one of the sides
};

/// Neighbours in the source and in the destination.
struct CopyRun {
  std::size_t first, count;  ///< of the sorted pieces
  std::size_t bytes;
};

/// Runs of equal length at equal distances.
struct CopyRows {
  std::size_t first, count;  ///< of the runs
};

class CopyBatch {
 public:
  void reserve(std::size_t pieces) { m_pieces.reserve(pieces); }
  void add(CopyPiece const& piece) {
    if (piece.bytes > 0) m_pieces.push_back(piece);
  }
  void add(CopyBatch const& other) {
    m_pieces.insert(m_pieces.end(), other.m_pieces.begin(), other.m_pieces.end());
  }
  bool empty() const { return m_pieces.empty(); }

  /// By destination, as it has to be before enqueue.
  void sort();

  /// Two pairs of Views of which one writes what the other one reads or writes. Sorts.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> find_conflict();

  /// Enqueues all on `stream`, a cudaStream_t, but for pieces that shall go by a kernel. While the
  /// stream captures that are none, since the list of them would have to live as long as the graph,
  /// and each piece is copied by itself; so it is where memory of other devices takes part. After
  /// sort.
  /// \param kernel_device where kernels run, which reach the memory of no other device; -1: there
  ///        are none
  /// \return the pieces left to a kernel
  std::vector<CopyPiece> enqueue(void* stream, int kernel_device);

 private:
  std::vector<CopyRun> merge() const;
  std::vector<CopyRows> find_rows(std::vector<CopyRun> const& runs, bool has_kernel) const;
  bool all_of_it_is_on(int device) const;
  CopyPiece merged(CopyRun const& run) const;
  void copy_run(CopyRun const& run, void* stream) const;
  bool copy_rows(std::vector<CopyRun> const& runs, CopyRows const& rows, void* stream) const;
  void copy_runs(std::vector<CopyRun> const& runs, void* stream) const;

  std::vector<CopyPiece> m_pieces;
};

}  // namespace KokkosHostSpaces::Impl

#endif
