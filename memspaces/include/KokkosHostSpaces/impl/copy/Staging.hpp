// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Staging: the copy engine moves pageable memory box by box through one block of page-locked
// memory, so that a copy of a large View does not page-lock the same amount again.

#ifndef KOKKOS_HOST_SPACES_IMPL_STAGING_HPP
#define KOKKOS_HOST_SPACES_IMPL_STAGING_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// A number for each dimension of a View.
using OfDimensions = std::array<std::size_t, 8>;

/// The side of a copy that a device cannot reach.
struct PageableSide {
  std::size_t element_bytes = 0;
  int rank                  = 0;
  OfDimensions extent{}, stride{};  ///< in elements
  bool is_source = false;
};

/// A part of a View in each dimension, and its layout in staging memory.
struct StagedBox {
  OfDimensions first{}, extent{};  ///< of the View
  OfDimensions stride{};           ///< in staging memory, in elements
  std::size_t bytes = 0;           ///< of staging memory
  CopyPlan plan;                   ///< between staging memory and the pageable side
};

/// Cuts a side into boxes of at most `most_bytes` bytes of staging memory, or of one element. There
/// the elements have the order of the side, without gaps; a dimension in which a source repeats
/// (stride 0) is staged once.
std::vector<StagedBox> cut_for_staging(PageableSide const& side, std::size_t most_bytes);

/// The space of Views of staging memory: kernels reach it.
using StagingSpace = DevicePinnedSpace;

/// T with a star for each dimension of a View: no extent is part of the type.
template <class T, std::size_t Rank>
struct WithStars : WithStars<T*, Rank - 1> {};
template <class T>
struct WithStars<T, 0> {
  using type = T;
};

template <class T, std::size_t Rank, class Space>
using BoxView = Kokkos::View<typename WithStars<T, Rank>::type, Kokkos::LayoutStride, Space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

inline Kokkos::LayoutStride layout_of_box(StagedBox const& box, std::size_t rank,
                                          OfDimensions const& stride) {
  Kokkos::LayoutStride layout;
  for (std::size_t r = 0; r < rank; ++r) {
    layout.dimension[r] = box.extent[r];
    layout.stride[r]    = stride[r];
  }
  return layout;
}

/// Returns the elements of a View that are in the box.
template <class View>
auto part_of(View const& view, StagedBox const& box) {
  OfDimensions stride{};
  std::size_t first = 0;
  for (std::size_t r = 0; r != View::rank; ++r) {
    stride[r] = view.stride(r);
    first += box.first[r] * stride[r];
  }
  return BoxView<typename View::value_type, View::rank, typename View::device_type>(
      view.data() + first, layout_of_box(box, View::rank, stride));
}

/// Calls `use(box, staging)` for each box of a View on pageable memory, with a View of its staging
/// memory. All boxes share that memory, so their uses must be ordered, as by a stream. The memory
/// returns to the pool at the end, which hands it out again when all enqueued work is done.
///
/// \throw OutOfPinnedMemory before the first call
template <class View, class Use>
void for_each_staged_box(View const& pageable, bool is_source, Use const& use,
                         std::size_t most_bytes = copy_thresholds_in_use().staging_bytes) {
  using Value = typename View::non_const_value_type;
  PageableSide side{
      .element_bytes = sizeof(Value), .rank = int(View::rank), .is_source = is_source};
  for (std::size_t r = 0; r != View::rank; ++r) {
    side.extent[r] = pageable.extent(r);
    side.stride[r] = pageable.stride(r);
  }
  std::vector<StagedBox> const boxes = cut_for_staging(side, most_bytes);
  std::size_t bytes                  = 0;
  for (StagedBox const& box : boxes) bytes = std::max(bytes, box.bytes);
  PoolMemory const memory(-1, pageable.label() + "_staging", bytes);
  for (StagedBox const& box : boxes)
    use(box, BoxView<Value, View::rank, StagingSpace>(static_cast<Value*>(memory.data()),
                                                      layout_of_box(box, View::rank, box.stride)));
}

}  // namespace KokkosHostSpaces::Impl

#endif
