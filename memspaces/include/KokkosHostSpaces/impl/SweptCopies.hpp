// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The quick ways of deep_copy_all, for what is plain: one pass over all pairs, and a single short one.

#ifndef KOKKOS_HOST_SPACES_IMPL_SWEPT_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_SWEPT_COPIES_HPP

#include <KokkosHostSpaces/impl/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/CopyRuns.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/PieceSweep.hpp>

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

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
  if (dst == nullptr || src == nullptr || pairs.begins_with_neighbours()) return {};
  PieceSweep sweep(dst, src, ends, lengths);
  bool const are_plain =
      pairs.all_of([&](auto const& to, auto const& from) { return sweep_pair(sweep, to, from); });
  if (!are_plain) return {};
  PieceSweep const swept = sweep;  // so that the other one stays in registers
  return swept.finish();
}

#ifdef KOKKOS_ENABLE_CUDA

inline bool tools_see_copies() {
  return Kokkos::Tools::Experimental::get_callbacks().begin_deep_copy != nullptr;
}

// What is plain, and short or few. False, and nothing is done, if it is not.
template <class Pairs>
bool enqueue_quickly(Kokkos::Cuda const& instance, Pairs const& pairs) {
  if constexpr (Pairs::can_be_swept) {
    if (pairs.size() > PieceSweep::most_pieces || tools_see_copies() || guards_copies())
      return false;
    SweepTable const table(pairs.size());
    if (table.ends() == nullptr) return false;
    NearPieces const pieces = sweep_pairs(pairs, table.ends(), table.lengths());
    return pieces.count > 0 && enqueue_swept(instance, pieces);
  }
  return false;
}

// A single short pair goes to a device by the call for batches; false if that is not for it.
template <class Dst, class Src>
bool is_copied_as_short(Kokkos::Cuda const& instance, Dst const& dst, Src const& src) {
  if constexpr (can_be_swept_v<Dst, Src> && is_to_device_v<Dst, Src>) {
    std::size_t const bytes = dst.span() * sizeof(typename Dst::value_type);
    if (bytes > copy_thresholds_in_use().short_bytes || dst.data() == nullptr ||
        src.data() == nullptr || tools_see_copies() || guards_copies())
      return false;
    NearEnds ends;
    std::uint32_t length = 0;
    PieceSweep sweep(reinterpret_cast<char*>(dst.data()), reinterpret_cast<char const*>(src.data()),
                     &ends, &length);
    return sweep_pair(sweep, dst, src) && sweep.finish().count == 1 &&
           CopyBatch::may_merge(instance.cuda_stream()) &&
           copy_short(dst.data(), src.data(), length, instance.cuda_stream());
  }
  return false;
}

#endif  // KOKKOS_ENABLE_CUDA

}  // namespace KokkosHostSpaces::Impl

#endif
