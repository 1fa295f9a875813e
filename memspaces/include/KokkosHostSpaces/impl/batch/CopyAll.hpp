// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many copies of Views as one: what is contiguous on both sides becomes pieces of a batch, the rest
// goes as by deep_copy.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP

#include <KokkosHostSpaces/impl/batch/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/batch/CopyRuns.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>
#include <KokkosHostSpaces/impl/batch/SweptCopies.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

struct CheckedPairs {
  CopyBatch batch;          ///< contiguous pairs in which a device takes part, sorted
  bool has_others = false;  ///< that go by themselves
};

/// Calls `visit` with each pair that has something to copy: as a piece, or nothing if it is not one
/// run of bytes, and with whether a device takes part. \throw Error
template <class Pairs, class Visit>
void for_each_piece(Pairs const& pairs, Visit const& visit) {
  if constexpr (Pairs::are_slices) {
    pairs.for_each_piece(visit);
  } else {
    pairs.for_each([&]<class Dst, class Src>(Dst const& dst, Src const& src, std::uint32_t index) {
      check_types<Dst, Src>();
      if (check_views(dst, src)) visit(piece_of(dst, src, index), has_device_v<Dst, Src>);
    });
  }
}

/// `pairs.for_each` calls with a destination, a source, and their index; see CopyPairs.hpp.
/// \throw Error
template <class Pairs>
CheckedPairs check_pairs(Pairs const& pairs, CopyBatch::Neighbours neighbours) {
  CheckedPairs checked{CopyBatch(neighbours, pairs.size())};
  CopyBatch all(neighbours, pairs.size());
  CopyBatch& batch  = checked.batch;
  bool const merges = neighbours == CopyBatch::Neighbours::merged;
  bool has_others   = false;
  CopyPiece run{};  // a local, since neighbours may be thousands
  for_each_piece(pairs, [&](std::optional<CopyPiece> const& piece, bool has_device) {
    if (!piece || !has_device) {
      has_others = true;
      if (piece) all.add(*piece);
    } else if (merges && continues(run, *piece)) {
      run.bytes += piece->bytes;
    } else {
      batch.add(run);
      run = *piece;
    }
  });
  batch.add(run);
  if (!all.empty()) all.add(batch);
  if (auto const conflict = all.empty() ? batch.find_conflict() : all.find_conflict()) {
    // Which pairs it is cannot be told of neighbours that were merged.
    if (neighbours == CopyBatch::Neighbours::merged)
      return check_pairs(pairs, CopyBatch::Neighbours::apart);
    throw Error("KokkosHostSpaces::deep_copy_all: copy " + pairs.describe(conflict->first) +
                " writes what copy " + pairs.describe(conflict->second) +
                " reads or writes (all copies of one call go at the same time): make two calls");
  }
  batch.sort();
  checked.has_others = has_others;
  return checked;
}

/// By deep_copy, each on the device whose memory it is, what is not in the batch.
template <class ExecutionSpace, class Pairs>
void copy_others(ExecutionSpace const& instance, Pairs const& pairs) {
  pairs.for_each([&]<class Dst, class Src>(Dst const& dst, Src const& src, std::uint32_t index) {
    if (!has_device_v<Dst, Src> || !piece_of(dst, src, index))
      Kokkos::deep_copy(instance, dst, src);
  });
}

#ifdef KOKKOS_ENABLE_CUDA

template <class Pairs, class Use>
void for_each_of_batch(Pairs const& pairs, Use const& use) {
  pairs.for_each([&]<class Dst, class Src>(Dst const& dst, Src const& src, std::uint32_t index) {
    if (has_device_v<Dst, Src> && piece_of(dst, src, index)) use(dst, src);
  });
}

/// Tells tools of the copies of a batch.
template <class Pairs>
void show_batch(Pairs const& pairs) {
  for_each_of_batch(pairs,
                    [](auto const& dst, auto const& src) { DeepCopyEvent const event(dst, src); });
}

/// What the driver refused, since merged pieces lie in two allocations that touch.
template <class Pairs>
void copy_each_of_batch(Kokkos::Cuda const& instance, Pairs const& pairs) {
  for_each_of_batch(pairs, [&](auto const& dst, auto const& src) {
    copy_async(dst.data(), src.data(), *bytes_of_run(dst, src), instance.cuda_stream());
  });
}

template <class Pairs>
void guard_batch(Kokkos::Cuda const& instance, Pairs const& pairs) {
  if (!guards_copies()) return;
  for_each_of_batch(pairs, [&](auto const& dst, auto const& src) {
    guard_copy(side_of(dst), side_of(src), instance.cuda_stream());
  });
}

template <class Pairs>
void enqueue_batch(Kokkos::Cuda const& instance, Pairs const& pairs, CopyBatch& batch,
                   bool are_seen) {
  if (are_seen) show_batch(pairs);
  if (batch.empty()) return;
  CopyBatch::Rest rest = batch.enqueue(instance.cuda_stream(), instance.cuda_device());
  enqueue_pieces(instance, rest.for_kernel);
  CopyBatch::keep_memory(std::move(rest.for_kernel));
  if (rest.refused) copy_each_of_batch(instance, pairs);
}

// A single pair needs no batch: is there but one, for which deep_copy is ours?
template <class Pairs>
bool is_copied_alone(Kokkos::Cuda const& instance, Pairs const& pairs) {
  bool is_copied = false;
  if (pairs.size() != 1) return false;
  pairs.for_each([&]<class Dst, class Src>(Dst const& dst, Src const& src, std::uint32_t) {
    if constexpr (OurCopy<Kokkos::Cuda, Dst, Src> && (Dst::rank != 0 || Src::rank != 0)) {
      copy_views(instance, dst, src);
      is_copied = true;
    }
  });
  return is_copied;
}

template <class Pairs>
void enqueue_all(Kokkos::Cuda const& instance, Pairs const& pairs) {
  if (!Pairs::can_be_swept && is_copied_alone(instance, pairs)) return;
  bool const may_merge = CopyBatch::may_merge(instance.cuda_stream());
  if (may_merge && enqueue_quickly(instance, pairs)) return;
  if (Pairs::can_be_swept && is_copied_alone(instance, pairs)) return;
  CheckedPairs checked =
      check_pairs(pairs, may_merge ? CopyBatch::Neighbours::merged : CopyBatch::Neighbours::apart);
  if (may_merge && enqueue_sorted(instance, pairs, checked.batch)) return;
  bool const are_seen = tools_see_copies();
  if (checked.has_others || are_seen) copy_others(instance, pairs);
  enqueue_batch(instance, pairs, checked.batch, are_seen);
  guard_batch(instance, pairs);
}

#endif  // KOKKOS_ENABLE_CUDA

template <class ExecutionSpace, class Pairs>
void copy_all(ExecutionSpace const& instance, Pairs const& pairs) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>) {
    ScopedDevice const on_device(instance.cuda_stream(), instance.cuda_device());
    enqueue_all(instance, pairs);
    return;
  }
#endif
  [[maybe_unused]] CheckedPairs checked = check_pairs(pairs, CopyBatch::Neighbours::apart);
#ifdef KOKKOS_ENABLE_CUDA
  instance.fence("KokkosHostSpaces::deep_copy_all: fence of the host instance before the copies");
  if (!checked.batch.empty()) {
    Kokkos::Cuda const cuda = private_instance(pairs.device());
    enqueue_batch(cuda, pairs, checked.batch, tools_see_copies());
    cuda.fence("KokkosHostSpaces::deep_copy_all: fence after copies that the host waits for");
  }
#endif
  copy_others(instance, pairs);
}

}  // namespace KokkosHostSpaces::Impl

#endif
