// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Overloads of Kokkos' resize and realloc. Each calls a function that Resize.hpp defines, and names the
// first argument of a View, as impl/copy/CopyOverloads.hpp explains.

#ifndef KOKKOS_HOST_SPACES_IMPL_RESIZE_OVERLOADS_HPP
#define KOKKOS_HOST_SPACES_IMPL_RESIZE_OVERLOADS_HPP

#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// Views whose memory stays near the same device in resize and realloc.
template <class View>
concept Resizable = HostSpace<typename View::memory_space> && PlainView<View> &&
    (std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft> ||
     std::is_same_v<typename View::array_layout, Kokkos::LayoutRight> ||
     std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>);

/// Extents as Kokkos passes them: KOKKOS_INVALID_INDEX beyond the rank.
using AllExtents = std::array<std::size_t, 8>;

template <class View>
typename View::array_layout with_extents(View const& view, AllExtents const& extents);
template <class View, class... P>
void resize_view(ViewProperties<P...> const& properties, View& view,
                 typename View::array_layout const& layout);
template <class View, class... P>
void realloc_view(ViewProperties<P...> const& properties, View& view,
                  typename View::array_layout const& layout);

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos {

// Kokkos' resize and realloc find these by argument-dependent lookup at the point of instantiation,
// so the order of includes does not matter.

template <class T, class P0, class... P, class... Args>
requires KokkosHostSpaces::Impl::Resizable<View<T, P0, P...>>
void impl_resize(KokkosHostSpaces::Impl::ViewProperties<Args...> const& properties,
                 View<T, P0, P...>& view, size_t const n0, size_t const n1, size_t const n2,
                 size_t const n3, size_t const n4, size_t const n5, size_t const n6,
                 size_t const n7) {
  KokkosHostSpaces::Impl::resize_view(
      properties, view,
      KokkosHostSpaces::Impl::with_extents(view, {n0, n1, n2, n3, n4, n5, n6, n7}));
}

template <class T, class P0, class... P, class... Args>
requires KokkosHostSpaces::Impl::Resizable<View<T, P0, P...>>
void impl_resize(KokkosHostSpaces::Impl::ViewProperties<Args...> const& properties,
                 View<T, P0, P...>& view, typename View<T, P0, P...>::array_layout const& layout) {
  KokkosHostSpaces::Impl::resize_view(properties, view, layout);
}

template <class T, class P0, class... P, class... Args>
requires KokkosHostSpaces::Impl::Resizable<View<T, P0, P...>>
void impl_realloc(View<T, P0, P...>& view, size_t const n0, size_t const n1, size_t const n2,
                  size_t const n3, size_t const n4, size_t const n5, size_t const n6,
                  size_t const n7,
                  KokkosHostSpaces::Impl::ViewProperties<Args...> const& properties) {
  KokkosHostSpaces::Impl::realloc_view(
      properties, view,
      KokkosHostSpaces::Impl::with_extents(view, {n0, n1, n2, n3, n4, n5, n6, n7}));
}

template <class T, class P0, class... P, class... Args>
requires KokkosHostSpaces::Impl::Resizable<View<T, P0, P...>>
void impl_realloc(View<T, P0, P...>& view, typename View<T, P0, P...>::array_layout const& layout,
                  KokkosHostSpaces::Impl::ViewProperties<Args...> const& properties) {
  KokkosHostSpaces::Impl::realloc_view(properties, view, layout);
}

}  // namespace Kokkos

#endif
