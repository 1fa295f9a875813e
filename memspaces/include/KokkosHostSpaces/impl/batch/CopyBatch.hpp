// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many contiguous copies, collected and checked: neighbours are merged, and copies that depend on
// each other are found. Made for thousands of short ones: what can be seen of a piece when it comes
// need not be looked for again. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_BATCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_BATCH_HPP

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

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
      : m_merges(neighbours == Neighbours::merged),
        m_merged(m_merges),
        m_expected(expected_pieces) {}

  /// Not while `stream` captures, since a call that is refused, as one that spans two allocations,
  /// is no good while a graph is made; nor where memory of other devices may take part: the driver
  /// takes what begins on a device for memory of that one.
  static bool may_merge(void* stream);

  /// Does `stream` capture? False if that cannot be told.
  static bool captures(void* stream) noexcept;

  /// Has the driver a call for many copies, which `stream` takes?
  static bool has_call(void* stream) noexcept;

  void add(CopyPiece const& piece) {
    if (piece.bytes == 0) return;
    if (m_merges && !m_pieces.empty() && continues(m_pieces.back(), piece))
      m_pieces.back().bytes += piece.bytes;
    else
      push(piece);
    see(piece);
  }
  void add(CopyBatch const& other) {
    m_merged = false;
    for (CopyPiece const& piece : other.m_pieces) {
      push(piece);
      see(piece);
    }
  }
  bool empty() const { return m_pieces.empty(); }
  std::vector<CopyPiece> const& pieces() const { return m_pieces; }

  /// By destination, as it has to be before enqueue.
  void sort();

  /// Two pairs of Views of which one writes what the other one reads or writes; if neighbours were
  /// merged, two pairs near them. Sorts.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> find_conflict();

  /// Enqueues all on `stream`, a cudaStream_t, but for pieces that shall go by a kernel. While the
  /// stream captures, other pieces are copied by themselves, and our memory stays in use until the
  /// graph is destroyed; where memory of several devices takes part, all are. After sort; the batch
  /// is used up.
  /// \param kernel_device where kernels run, which reach the memory of no other device; -1: there
  ///        are none
  Rest enqueue(void* stream, int kernel_device);

  /// The same as a plan, for streams that do not capture. After sort; the batch is used up.
  BatchPlan plan(int kernel_device, BatchPlan::Use use = BatchPlan::Use::once);

  /// For the next batch of this thread.
  static void keep_memory(std::vector<CopyPiece>&& pieces);

 private:
  void push(CopyPiece const& piece) {
    if (m_pieces.size() == 1) make_room();  // they are no neighbours
    m_pieces.push_back(piece);
  }
  void see(CopyPiece const& piece) {
    m_ascending = m_ascending && piece.dst >= m_dst_end;
    m_dst_end   = piece.dst + piece.bytes;
    if (m_first_src == nullptr || piece.src < m_first_src) m_first_src = piece.src;
    if (piece.src + piece.bytes > m_src_end) m_src_end = piece.src + piece.bytes;
  }
  void make_room();
  bool can_be_merged(int kernel_device) const;
  bool all_of_it_is_on(int device) const;
  Rest enqueue_captured(void* stream, int kernel_device);

  bool m_merges;
  bool m_merged;  ///< there are no neighbours left
  std::size_t m_expected;
  std::vector<CopyPiece> m_pieces;
  bool m_ascending        = true;     ///< destinations came sorted, and do not overlap
  char const* m_dst_end   = nullptr;  ///< of the last one
  char const* m_first_src = nullptr;
  char const* m_src_end   = nullptr;
};

}  // namespace KokkosHostSpaces::Impl

#endif
