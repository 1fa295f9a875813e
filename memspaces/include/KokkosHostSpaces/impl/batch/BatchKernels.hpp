// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels that carry the pieces of a batch: compiled once, in src/.

#ifndef KOKKOS_HOST_SPACES_IMPL_BATCH_KERNELS_HPP
#define KOKKOS_HOST_SPACES_IMPL_BATCH_KERNELS_HPP

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>
#include <KokkosHostSpaces/impl/batch/PlainLists.hpp>

#include <Kokkos_Core.hpp>

#include <memory>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

/// Enqueues short copies on `instance` and returns. Kernels reach both sides. If the stream
/// captures, what it needs stays until the graph is destroyed.
void enqueue_pieces(Kokkos::Cuda const& instance, std::vector<CopyPiece> const& pieces);

/// Memory for the list of a PieceSweep, which kernels reach if it is long.
class SweepTable {
 public:
  static constexpr std::size_t few = 64;  ///< may go among the arguments of a kernel

  explicit SweepTable(std::size_t pieces);
  ~SweepTable();
  SweepTable(SweepTable const&)            = delete;
  SweepTable& operator=(SweepTable const&) = delete;

  /// nullptr if the pool has no memory left: other ways may need none.
  NearEnds* ends() const { return m_ends; }
  std::uint32_t* lengths() const { return m_lengths; }

 private:
  std::size_t m_bytes = 0;  ///< of the pool
  NearEnds* m_ends;
  std::uint32_t* m_lengths;
  NearEnds m_few_ends[few];
  std::uint32_t m_few_lengths[few];
};

/// What was swept into a table.
struct SweptList : PlainList {
  explicit SweptList(std::size_t pieces_) : table(pieces_) {}
  SweepTable table;
};

/// Those of the latest batches of all threads, until memory is short, or Kokkos is finalized.
PlainLists& plain_lists();

/// Enqueues what was swept into a SweepTable on `instance`, whose stream does not capture, and
/// returns. False, and nothing is done, if they are neither for a kernel nor for one call; one piece
/// is neighbours that were merged.
bool enqueue_swept(Kokkos::Cuda const& instance, NearPieces const& pieces, BatchPlan::Use use);

/// Short copies that are made again and again: their list waits on the device, and the kernel is the
/// node of a graph. To launch that took 2.2 us of the host, and to launch the kernel 4.4 (H200, before it
/// was launched by the driver's own call).
class ListedPieces {
 public:
  ListedPieces() = default;
  /// \param few_by_launch few that are not short have their list among the arguments of a kernel that
  ///        starts early, and are no graph. To a device, many in a row, on five hosts: 4 x 4 KiB took 3.3
  ///        to 4.9 us so, and 4.2 by a graph; 4 x 64 bytes 3.1 to 4.6 and 3.6, which is why they are one
  ListedPieces(int device, std::vector<CopyPiece> const& pieces, bool few_by_launch);

  /// Enqueues all on `instance`, of the same device, which does not capture, by one launch. By any
  /// number of threads.
  void enqueue(Kokkos::Cuda const& instance) const;

 private:
  struct List;
  std::shared_ptr<List> m_list;
};

}  // namespace KokkosHostSpaces::Impl

#endif  // KOKKOS_ENABLE_CUDA

#endif
