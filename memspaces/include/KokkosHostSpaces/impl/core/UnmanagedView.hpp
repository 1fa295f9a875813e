// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The types of Views that do not own their memory: of the memory of a View, or of registered memory.

#ifndef KOKKOS_HOST_SPACES_IMPL_UNMANAGED_VIEW_HPP
#define KOKKOS_HOST_SPACES_IMPL_UNMANAGED_VIEW_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/SpaceTraits.hpp>

#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// The memory traits of a View, and Unmanaged.
template <class View, class Traits = typename View::memory_traits>
using UnmanagedTraitsOf =
    Kokkos::MemoryTraits<Traits::is_random_access* unsigned(Kokkos::RandomAccess) |
                         Traits::is_atomic* unsigned(Kokkos::Atomic) |
                         Traits::is_restrict* unsigned(Kokkos::Restrict) |
                         Traits::is_aligned* unsigned(Kokkos::Aligned) | Kokkos::Unmanaged>;

/// An unmanaged View in `Space` (or of a device) of the memory of `View`.
template <class View, class Space>
using UnmanagedViewIn = Kokkos::View<typename View::data_type, typename View::array_layout, Space,
                                     UnmanagedTraitsOf<View>>;

/// The same memory in Kokkos' own pinned space, for copies by Kokkos; other Views unchanged.
template <class View>
auto as_stock(View const& view) {
  if constexpr (HostSpace<typename View::memory_space>)
    return UnmanagedViewIn<View, Kokkos::Device<typename View::execution_space, DevicePinnedSpace>>(
        view.data(), view.layout());
  else
    return view;
}

/// Calls use() with the memory of `view` in the space of Kokkos that it is of: registered memory is
/// pageable there, so no kernel gets it, and Kokkos refuses strided copies.
template <class View, class Use>
void with_stock_view(View const& view, Use const& use) {
  if constexpr (std::is_same_v<typename View::memory_space, PinnedSpace>)
    if (is_only_registered(view.data()))
      return use(UnmanagedViewIn<View, Kokkos::HostSpace>(view.data(), view.layout()));
  use(as_stock(view));
}

/// An unmanaged View with these properties: as for Kokkos::View, in `Space` if they name none.
template <class Space, class DataType, class... Properties>
struct UnmanagedViewOf {
  using Given                      = Kokkos::View<DataType, Properties...>;
  static constexpr bool has_space  = (Kokkos::is_space<Properties>::value || ...);
  static constexpr bool has_layout = (Kokkos::is_array_layout<Properties>::value || ...);
  using Memory = std::conditional_t<has_space, typename Given::device_type, Space>;
  using Layout =
      typename std::conditional_t<has_layout, Given, Kokkos::View<DataType, Memory>>::array_layout;
  using type = Kokkos::View<DataType, Layout, Memory, UnmanagedTraitsOf<Given>>;
};

}  // namespace KokkosHostSpaces::Impl

#endif
