// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many copies of Views as one: what is contiguous on both sides becomes pieces of a batch, the rest
// goes as by deep_copy.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP

#include <KokkosHostSpaces/impl/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/DeepCopy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

template <class Dst, class Src>
inline constexpr bool are_bytes_v = PlainView<Dst>&& PlainView<Src>&&
    std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type>&&
        is_known_space_v<typename Dst::memory_space>&& is_known_space_v<typename Src::memory_space>;

/// Has the pair a device in it? Others are copied by the host, or by a kernel.
template <class Dst, class Src>
inline constexpr bool has_device_v =
    is_used_by_cuda_v<typename Dst::memory_space> || is_used_by_cuda_v<typename Src::memory_space>;

/// Do two Views without gaps have their elements in the same order?
template <class Dst, class Src>
inline constexpr bool is_one_order_v =
    Dst::rank() <= 1 || (std::is_same_v<typename Dst::array_layout, typename Src::array_layout> &&
                         !std::is_same_v<typename Dst::array_layout, Kokkos::LayoutStride>);

/// Has a View of one dimension no gaps?
template <class View>
inline constexpr bool is_dense_layout_v =
    std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft> ||
    std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;

/// Bytes of the pair if it is one run of bytes.
template <class Dst, class Src>
std::optional<std::size_t> bytes_of_run(Dst const& dst, Src const& src) {
  if (is_one_order_v<Dst, Src> && dst.span_is_contiguous() &&
      src.span_is_contiguous())  // quicker than a plan
    return dst.span() * sizeof(typename Dst::value_type);
  CopyPlan const plan = plan_for(dst, src);
  return plan.contiguous() ? std::optional(plan.run_bytes) : std::nullopt;
}

/// The pair as one run of bytes, or nothing if it is not: 0 bytes if there is nothing to copy.
template <class Dst, class Src>
std::optional<CopyPiece> piece_of(Dst const& dst, Src const& src, std::uint32_t pair) {
  if constexpr (are_bytes_v<Dst, Src>) {
    if (auto const bytes = bytes_of_run(dst, src))
      return CopyPiece{
          reinterpret_cast<char*>(dst.data()), reinterpret_cast<char const*>(src.data()), *bytes,
          pair,
          is_pageable_v<typename Dst::memory_space> || is_pageable_v<typename Src::memory_space>};
  }
  return std::nullopt;
}

struct CheckedPairs {
  CopyBatch batch;          ///< contiguous pairs in which a device takes part, sorted
  bool has_others = false;  ///< that go by themselves
};

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
  pairs.for_each([&]<class Dst, class Src>(Dst const& dst, Src const& src, std::uint32_t index) {
    check_types<Dst, Src>();
    if (!check_views(dst, src)) return;
    auto const piece = piece_of(dst, src, index);
    if (!piece || !has_device_v<Dst, Src>) {
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

/// Pairs that are one run of bytes each if they have no gaps, and that a kernel or one call copies.
template <class Dst, class Src>
inline constexpr bool can_be_swept_v =
    are_bytes_v<Dst, Src>&& has_device_v<Dst, Src> && !is_pageable_v<typename Dst::memory_space> &&
    !is_pageable_v<typename Src::memory_space> && is_one_order_v<Dst, Src>;

/// Adds a pair to a sweep; false if it is not plain.
template <class Dst, class Src>
bool sweep_pair(PieceSweep& sweep, Dst const& dst, Src const& src) {
  for (int r = 0; r < int(Dst::rank); ++r)
    if (dst.extent(r) != src.extent(r)) return false;
  std::size_t elements = 0;
  if constexpr (Dst::rank == 1 && is_dense_layout_v<Dst> && is_dense_layout_v<Src>) {
    elements = dst.extent(0);
  } else {
    if (!dst.span_is_contiguous() || !src.span_is_contiguous()) return false;
    elements = dst.span();
  }
  return sweep.add(reinterpret_cast<char*>(dst.data()), reinterpret_cast<char const*>(src.data()),
                   elements * sizeof(typename Dst::value_type));
}

/// One pass over all pairs; see PieceSweep.
template <class Pairs>
NearPieces sweep_pairs(Pairs const& pairs, NearEnds* ends, std::uint32_t* lengths) {
  auto const [dst, src] = pairs.first_ends();
  if (dst == nullptr || src == nullptr) return {};
  PieceSweep sweep(dst, src, ends, lengths);
  bool const are_plain =
      pairs.all_of([&](auto const& to, auto const& from) { return sweep_pair(sweep, to, from); });
  if (!are_plain) return {};
  PieceSweep const swept = sweep;  // so that the other one stays in registers
  return swept.finish();
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

inline bool tools_see_copies() {
  return Kokkos::Tools::Experimental::get_callbacks().begin_deep_copy != nullptr;
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

// What is plain, and short or few. False, and nothing is done, if it is not.
template <class Pairs>
bool enqueue_quickly(Kokkos::Cuda const& instance, Pairs const& pairs) {
  if constexpr (Pairs::can_be_swept) {
    if (pairs.size() > PieceSweep::most_pieces || tools_see_copies() || guards_copies())
      return false;
    SweepTable const table(pairs.size());
    NearPieces const pieces = sweep_pairs(pairs, table.ends(), table.lengths());
    return pieces.count > 0 && enqueue_swept(instance, pieces);
  }
  return false;
}

template <class Pairs>
void enqueue_all(Kokkos::Cuda const& instance, Pairs const& pairs) {
  if (is_copied_alone(instance, pairs)) return;
  bool const may_merge = CopyBatch::may_merge(instance.cuda_stream());
  if (may_merge && enqueue_quickly(instance, pairs)) return;
  CheckedPairs checked =
      check_pairs(pairs, may_merge ? CopyBatch::Neighbours::merged : CopyBatch::Neighbours::apart);
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
