// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Plans a batch of contiguous copies: one 2-D copy, or one kernel and one call of the driver, and
// single copies where neither is possible. Knows nothing of Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_BATCH_PLAN_HPP
#define KOKKOS_HOST_SPACES_IMPL_BATCH_PLAN_HPP

#include <KokkosHostSpaces/impl/batch/PieceTable.hpp>

#include <vector>

namespace KokkosHostSpaces::Impl {

/// The pieces of a batch, by the kind of memory of their sides.
struct BatchTables {
  PieceTable reached;   ///< both sides are accessible to kernels of a device
  PieceTable pageable;  ///< one side is pageable, the other one on a device
  PieceTable on_host;   ///< no side is on a device: checked, but not enqueued

  bool need_device() const { return !reached.empty() || !pageable.empty(); }
};

/// Limits of a plan, by its stream and the devices.
struct BatchRules {
  /// Several pieces may become one call. Not in a capture, where a refused call would spoil the
  /// graph, nor if memory of several devices takes part.
  bool combines   = true;
  bool has_kernel = true;   ///< kernels of the stream's device reach all of BatchTables::reached
  bool to_device  = false;  ///< all copies go from page-locked memory to a device
};

/// Returns the rules for pieces on `stream` (a cudaStream_t), whose kernels run on `device`.
BatchRules rules_for(BatchTables const& tables, bool to_device, void* stream, int device);

/// Returns whether `stream` captures. \throw DeviceError
bool captures(void* stream);

/// The copies of a batch, by the way that carries them. Can be enqueued more than once.
struct BatchPlan {
  char const* conflict = nullptr;  ///< see PieceScan; the plan is empty then
  /// All of by_kernel and by_call as one 2-D copy, to be tried first: the driver refuses rows that
  /// lie in several allocations.
  PieceRows rows;
  std::vector<Piece> by_kernel;  ///< short pieces
  std::vector<Piece> by_call;    ///< one cuMemcpyBatchAsync, or single copies if it is refused
  std::vector<Piece> single;     ///< a copy each
  bool combines = true;          ///< see BatchRules
};

/// Checks all tables against each other, and plans those with a side on a device.
BatchPlan plan_batch(BatchTables&& tables, BatchRules const& rules);

/// Enqueues one 2-D copy. Returns false, and does nothing, if the plan has no rows, or the driver
/// refuses them.
bool copy_rows(BatchPlan const& plan, void* stream);

/// Enqueues plan.by_call. Returns false if the driver refuses a piece: merged neighbours may lie in
/// two allocations. Not while `stream` captures.
bool copy_by_call(BatchPlan const& plan, void* stream);

/// Enqueues plan.single. Returns false as copy_by_call.
bool copy_single(BatchPlan const& plan, void* stream);

/// Retains memory of this library for the graph that `stream` captures, if it does.
void retain_for_graph(BatchPlan const& plan, void* stream);

}  // namespace KokkosHostSpaces::Impl

#endif
