// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Boxes of Views, and staging memory that one after the other goes through.

#ifndef KOKKOS_HOST_SPACES_IMPL_STAGED_VIEWS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STAGED_VIEWS_HPP

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>
#include <KokkosHostSpaces/impl/core/SpaceTraits.hpp>
#include <KokkosHostSpaces/impl/copy/StagedBoxes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// T with as many stars as a View has dimensions: no extent is part of the type.
template <class T, std::size_t Rank>
struct WithStars : WithStars<T*, Rank - 1> {};
template <class T>
struct WithStars<T, 0> {
  using type = T;
};

template <class T, std::size_t Rank, class Space>
using BoxView = Kokkos::View<typename WithStars<T, Rank>::type, Kokkos::LayoutStride, Space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

inline Kokkos::LayoutStride layout_of_box(StagedBox const& box, int rank,
                                          std::array<std::size_t, 8> const& stride) {
  Kokkos::LayoutStride layout;
  for (int r = 0; r < rank; ++r) {
    layout.dimension[r] = box.extent[r];
    layout.stride[r]    = stride[r];
  }
  return layout;
}

/// Those elements of a View that are in the box.
template <class View>
auto part_of(View const& view, StagedBox const& box) {
  std::array<std::size_t, 8> stride{};
  std::size_t first = 0;
  for (int r = 0; r < int(View::rank); ++r) {
    stride[r] = view.stride(r);
    first += box.first[r] * stride[r];
  }
  return BoxView<typename View::value_type, View::rank, typename View::device_type>(
      view.data() + first, layout_of_box(box, int(View::rank), stride));
}

/// Calls `use` with each box of a View on pageable memory, and with a View of staging memory for it,
/// which kernels reach. All have the same memory: what uses it must be ordered, as by a stream. It
/// goes back to the pool when this returns, and is not used again before all that was enqueued is
/// done. \throw OutOfPinnedMemory before any call
template <class View, class Use>
void for_each_staged_box(View const& pageable, bool is_source, Use const& use,
                         std::size_t most_bytes = copy_thresholds_in_use().staging_bytes) {
  using Value = typename View::non_const_value_type;
  PageableSide side{
      .element_bytes = sizeof(Value), .rank = int(View::rank), .is_source = is_source};
  for (int r = 0; r < int(View::rank); ++r) {
    side.extent[r] = pageable.extent(r);
    side.stride[r] = pageable.stride(r);
  }
  std::vector<StagedBox> const boxes = cut_for_staging(side, most_bytes);
  std::size_t bytes                  = 0;
  for (StagedBox const& box : boxes) bytes = std::max(bytes, box.bytes);
  // Not included here: the header of that space includes those of copies.
  Kokkos::View<Value*, MappedSpace> const memory(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, pageable.label() + "_staging"),
      bytes / sizeof(Value));
  for (StagedBox const& box : boxes)
    use(box, BoxView<Value, View::rank, MappedSpace>(
                 memory.data(), layout_of_box(box, int(View::rank), box.stride)));
}

}  // namespace KokkosHostSpaces::Impl

#endif
