// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The quick ways of deep_copy_all, for what is plain: one pass over all pairs.

#ifndef KOKKOS_HOST_SPACES_IMPL_SWEPT_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_SWEPT_COPIES_HPP

#include <KokkosHostSpaces/impl/batch/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/batch/CopyRuns.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>
#include <KokkosHostSpaces/impl/batch/PieceRows.hpp>
#include <KokkosHostSpaces/impl/batch/PieceSweep.hpp>
#include <KokkosHostSpaces/impl/batch/PlainLists.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace KokkosHostSpaces::Impl {

/// Pairs that are one run of bytes each if they have no gaps, and that a kernel or one call copies.
template <class Dst, class Src>
inline constexpr bool can_be_swept_v =
    are_bytes_v<Dst, Src>&& has_device_v<Dst, Src> && !is_pageable_v<typename Dst::memory_space> &&
    !is_pageable_v<typename Src::memory_space> && is_one_order_v<Dst, Src>;

/// Adds a pair to FewCopies, PieceRows, a PieceSweep, a PieceComparison, or a PieceRun; false if it is
/// not for that.
template <class Pieces, class Dst, class Src>
bool sweep_pair(Pieces& pieces, Dst const& dst, Src const& src) {
  for (int r = 0; r < int(Dst::rank); ++r)
    if (dst.extent(r) != src.extent(r)) return false;
  std::size_t elements = 0;
  if constexpr (Dst::rank == 1 && is_dense_layout_v<Dst> && is_dense_layout_v<Src>) {
    elements = dst.extent(0);
  } else {
    if (!dst.span_is_contiguous() || !src.span_is_contiguous()) return false;
    elements = dst.span();
  }
  return pieces.add(reinterpret_cast<char*>(dst.data()), reinterpret_cast<char const*>(src.data()),
                    elements * sizeof(typename Dst::value_type));
}

/// Views lie one behind the other in most ranges: asks for what comes 2 KiB behind, which processors
/// do not do by themselves beyond a page. Of 4096 pairs that were in no cache near by: 16 us, not 21.
template <class View>
void ask_ahead(View const& view) {
  __builtin_prefetch(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&view) + 2048));
}

/// One pass over all pairs of Views.
template <class Pieces, class Pairs>
bool sweep_views(Pieces& pieces, Pairs const& pairs) {
  return pairs.all_of([&](auto const& dst, auto const& src) {
    ask_ahead(dst);
    ask_ahead(src);
    return sweep_pair(pieces, dst, src);
  });
}

/// See PieceSweep.
template <class Pairs>
NearPieces sweep_pairs(Pairs const& pairs, NearEnds* ends, std::uint32_t* lengths) {
  auto const [dst, src] = pairs.first_ends();
  PieceSweep sweep(dst, src, ends, lengths);
  if (!pairs.sweep(sweep)) return {};
  PieceSweep const swept = sweep;  // so that the other one stays in registers
  return swept.finish();
}

#ifdef KOKKOS_ENABLE_CUDA

template <class Pairs>
inline constexpr BatchPlan::Use use_of =
    Pairs::are_to_device ? BatchPlan::Use::once_to_device : BatchPlan::Use::once;

// Neighbours, all of them.
template <class Pairs>
bool enqueue_run(Kokkos::Cuda const& instance, Pairs const& pairs) {
  auto const [dst, src] = pairs.first_ends();
  PieceRun run(dst, src);
  return pairs.sweep(run) && run.bytes() > 0 && run.sides_are_apart() &&
         copy_run(dst, src, run.bytes(), instance.cuda_stream());
}

// Rows, all of them. False, and nothing is done, if they are not: most tell that by the third one.
template <class Pairs>
bool enqueue_rows(Kokkos::Cuda const& instance, Pairs const& pairs) {
  PieceRows rows;
  return pairs.size() >= copy_thresholds_in_use().regular_pieces && pairs.sweep(rows) &&
         rows.sides_are_apart() && copy_rows(rows.rows(), instance.cuda_stream());
}

// So few that no kernel carries them.
template <class Pairs>
bool enqueue_by_call(Kokkos::Cuda const& instance, Pairs const& pairs) {
  FewCopies copies;
  return pairs.sweep(copies) && copies.are_plain(copy_thresholds_in_use().regular_pieces) &&
         copy_few(copies, Pairs::are_to_device, instance.cuda_stream());
}

// By one call, or by a kernel that has the list among its arguments.
template <class Pairs>
bool enqueue_few(Kokkos::Cuda const& instance, Pairs const& pairs) {
  SweepTable const table(pairs.size());
  NearPieces const pieces = sweep_pairs(pairs, table.ends(), table.lengths());
  return pieces.count > 0 && enqueue_swept(instance, pieces, use_of<Pairs>);
}

// False, and nothing is done, if they are not plain.
template <class Pairs>
bool enqueue_and_keep(Kokkos::Cuda const& instance, Pairs const& pairs,
                      std::shared_ptr<SweptList> const& list) {
  if (list->pieces.count == 0 || !enqueue_swept(instance, list->pieces, use_of<Pairs>))
    return false;
  try {
    list->slices = pairs.known();
    plain_lists().keep(list);
  } catch (std::bad_alloc const&) {  // the copies are under way: all that is lost is the list
  }
  return true;
}

// By a kernel, and the list is kept.
template <class Pairs>
bool enqueue_many(Kokkos::Cuda const& instance, Pairs const& pairs) {
  auto const [dst, src] = pairs.first_ends();
  if (auto const list =
          plain_lists().find([&](PlainList const& known) { return pairs.are_of(known); })) {
    NearPieces const pieces = list->pieces.at(dst, src);
    return pieces.count > 0 && enqueue_swept(instance, pieces, use_of<Pairs>);
  }
  auto const list = std::make_shared<SweptList>(pairs.size());
  if (list->table.ends() == nullptr) return false;
  list->pieces = sweep_pairs(pairs, list->table.ends(), list->table.lengths());
  return enqueue_and_keep(instance, pairs, list);
}

template <class Pairs>
bool may_be_quick(Pairs const& pairs) {
  if (pairs.size() > PieceSweep::most_pieces || tools_see_copies() || guards_copies()) return false;
  auto const [dst, src] = pairs.first_ends();
  return dst != nullptr && src != nullptr;
}

// What is plain, and short or few. False, and nothing is done, if it is not.
template <class Pairs>
bool enqueue_quickly(Kokkos::Cuda const& instance, Pairs const& pairs) {
  if constexpr (Pairs::can_be_swept) {
    if (!may_be_quick(pairs)) return false;
    if constexpr (!Pairs::are_slices)  // of which the sweep merges neighbours
      if (pairs.begins_with_neighbours()) return enqueue_run(instance, pairs);
    if (enqueue_rows(instance, pairs)) return true;
    if (pairs.size() <= FewCopies::most) return enqueue_by_call(instance, pairs);
    return pairs.size() <= PieceSweep::most_of_call ? enqueue_few(instance, pairs)
                                                    : enqueue_many(instance, pairs);
  }
  return false;
}

// The same of slices that were not, once they are checked and sorted: they may be plain then.
template <class Pairs>
bool enqueue_sorted(Kokkos::Cuda const& instance, Pairs const& pairs, CopyBatch const& batch) {
  if constexpr (Pairs::are_slices && Pairs::can_be_swept) {
    // What would copy itself was left out, which others at the same distances would not be.
    if (!may_be_quick(pairs) || pairs.size() <= PieceSweep::most_of_call ||
        !pairs.numbers().are_apart() || pairs.numbers().ascend())
      return false;
    auto const list = std::make_shared<SweptList>(batch.pieces().size());
    if (list->table.ends() == nullptr) return false;
    auto const [dst, src] = pairs.first_ends();
    PieceSweep sweep(dst, src, list->table.ends(), list->table.lengths());
    for (CopyPiece const& piece : batch.pieces())
      if (!sweep.add_or_merge(piece.dst, piece.src, piece.bytes)) return false;
    list->pieces = sweep.finish();
    return enqueue_and_keep(instance, pairs, list);
  }
  return false;
}

#endif  // KOKKOS_ENABLE_CUDA

}  // namespace KokkosHostSpaces::Impl

#endif
