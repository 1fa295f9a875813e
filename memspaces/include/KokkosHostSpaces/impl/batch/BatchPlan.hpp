// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a batch of contiguous copies becomes: rows of 2-D copies, pieces for a kernel, and the rest,
// for one call or single ones. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_BATCH_PLAN_HPP
#define KOKKOS_HOST_SPACES_IMPL_BATCH_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace KokkosHostSpaces::Impl {

struct NearPieces;

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
  /// A copy engine takes no longer pitch: such rows would be single copies.
  static constexpr std::ptrdiff_t longest_step = 2147483647;

  CopyPiece first;
  std::size_t count, dst_step, src_step;  ///< bytes
};

/// Can be enqueued more than once.
struct BatchPlan {
  enum class Use {
    once,
    once_to_device,  ///< from page-locked memory
    again,  ///< and again: the kernel is launched as a graph, which takes the host half as long
    again_to_device  ///< the same, of page-locked memory, from Hopper on; few are launched early
  };

  std::vector<CopyRows> rows;
  std::vector<CopyPiece> for_kernel;  ///< left to the caller
  std::vector<CopyPiece> others;
  bool apart     = false;  ///< memory of several devices takes part: each of the others by itself
  bool to_device = false;  ///< all of it, from page-locked memory

  /// Enqueues what is not for a kernel on `stream`, a cudaStream_t that does not capture. False if
  /// the driver does not take a piece, since neighbours lie in two allocations that touch.
  bool enqueue(void* stream) const;
};

/// Of pieces that are sorted by destination; neighbours are merged, if they are not yet.
BatchPlan plan_batch(std::vector<CopyPiece>&& pieces, bool are_merged, bool has_kernel,
                     BatchPlan::Use use);

/// Takes those out that a kernel shall carry.
std::vector<CopyPiece> take_for_kernel(std::vector<CopyPiece>& pieces, BatchPlan::Use use);

/// Does one kernel carry so many pieces, none of which is longer, if nothing better is to be had?
bool are_for_kernel(std::size_t longest, std::size_t pieces, BatchPlan::Use use);

/// Enqueues a copy from page-locked memory to a device by the call for many, which takes the host
/// less long for a short one. False, and nothing is done, if it is longer, or the driver does not
/// take it. Not while `stream` captures.
bool copy_short(void* dst, void const* src, std::size_t bytes, void* stream);

/// Enqueues one copy. False if the driver does not take it, since it lies in two allocations that
/// touch.
bool copy_run(void* dst, void const* src, std::size_t bytes, void* stream);

/// The same of rows.
bool copy_rows(CopyRows const& rows, void* stream);

/// Enqueues pieces, none of them pageable, by one call. False, and nothing is done, if they are
/// too many or too few for it, or the driver does not take them. Not while `stream` captures.
bool copy_at_once(NearPieces const& pieces, void* stream);

}  // namespace KokkosHostSpaces::Impl

#endif
