// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Views in a space which kernels do not reach, made with an instance of a device: what
// `view_alloc(cuda, ...)` means for PinnedSpace in mirrors, resize and realloc. Stock Kokkos
// refuses to compile these. Allocation is not ordered with the instance, filling and copying are.

#ifndef KOKKOS_HOST_SPACES_IMPL_ORDERED_HPP
#define KOKKOS_HOST_SPACES_IMPL_ORDERED_HPP

#include <KokkosHostSpaces/impl/DeepCopy.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

template <class Space, class Properties>
concept OrderedBy = std::is_same_v<Space, PinnedSpace> &&
    std::is_same_v<typename Properties::execution_space, Kokkos::Cuda>;

/// Properties of a mirror.
template <class Properties>
concept OrderedMirror = OrderedBy<typename Properties::memory_space, Properties>;

template <class View>
inline constexpr bool in_pinned_space = std::is_same_v<typename View::memory_space, PinnedSpace>;

/// A View in `space`, full of zeros as soon as the instance has come so far, unless the properties
/// say WithoutInitializing.
template <class View, class... P>
View make_ordered(ViewProperties<P...> const& properties, typename View::memory_space const& space,
                  std::string const& label, typename View::array_layout const& layout) {
  using Value = typename View::non_const_value_type;
  if constexpr (!ViewProperties<P...>::initialize) {
    return View(Kokkos::view_alloc(space, label, Kokkos::WithoutInitializing), layout);
  } else if constexpr (std::is_trivially_default_constructible_v<Value>) {
    View const view(Kokkos::view_alloc(space, label, Kokkos::WithoutInitializing), layout);
    Kokkos::deep_copy(instance_in(properties), view, Value{});
    return view;
  } else {
    return View(Kokkos::view_alloc(space, label), layout);  // constructors run on the host
  }
}

/// What Kokkos' own resize and realloc refuse to compile, too.
template <class View, class Properties>
constexpr void check_resizable() {
  static_assert(!View::traits::memory_traits::is_unmanaged,
                "only managed Views can be resized or reallocated");
  static_assert(!Properties::has_label && !Properties::has_pointer && !Properties::has_memory_space,
                "the arguments of resize and realloc must not include a label, a pointer, or a "
                "memory space instance");
}

/// The layout of `view` with other extents where they are no part of its type.
/// \throw Error unless there is an extent for each dimension that is none, and not more than
/// dimensions
template <class View>
typename View::array_layout with_extents(View const& view, std::array<std::size_t, 8> extents) {
  for (std::size_t r = 0; r < extents.size(); ++r) {
    bool const given = extents[r] != KOKKOS_INVALID_INDEX;
    if (given ? r >= View::rank : r < View::rank_dynamic)
      throw Error("cannot resize \"" + view.label() + "\" in " + View::memory_space::name() +
                  " (rank " + std::to_string(View::rank()) + ", of which " +
                  std::to_string(View::rank_dynamic()) +
                  " extents are not in its type): pass that many extents");
  }
  typename View::array_layout layout;
  for (std::size_t r = 0; r < View::rank; ++r)
    layout.dimension[r] = r < View::rank_dynamic ? extents[r] : view.extent(r);
  return layout;
}

/// Shall `view` stay as it is? Strides are asked for only where they are no part of its type.
template <class View>
bool has_layout(View const& view, typename View::array_layout const& layout) {
  if constexpr (std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>) {
    return view.layout() == layout;
  } else {
    for (std::size_t r = 0; r < View::rank; ++r)
      if (view.extent(r) != layout.dimension[r]) return false;
    return true;
  }
}

/// Where `view` lies; for an empty one, near the device of the instance.
template <class View, class... P>
typename View::memory_space space_of(ViewProperties<P...> const& properties, View const& view) {
  return
      typename View::memory_space(device_near(view.data(), instance_in(properties).cuda_device()));
}

template <class View, class... P>
void resize_ordered(ViewProperties<P...> const& properties, View& view,
                    typename View::array_layout const& layout) {
  check_resizable<View, ViewProperties<P...>>();
  if (has_layout(view, layout)) return;
  View const resized =
      make_ordered<View>(properties, space_of(properties, view), view.label(), layout);
  enqueue_remap(instance_in(properties), reachable_by_kernels(resized), reachable_by_kernels(view));
  view = resized;
}

template <class View, class... P>
void realloc_ordered(ViewProperties<P...> const& properties, View& view,
                     typename View::array_layout const& layout) {
  check_resizable<View, ViewProperties<P...>>();
  std::string const label = view.label();
  if (has_layout(view, layout)) {
    if constexpr (ViewProperties<P...>::initialize)
      Kokkos::deep_copy(instance_in(properties), view, typename View::value_type{});
    return;
  }
  auto const space = space_of(properties, view);
  view             = View();  // so that its memory may come back
  view             = make_ordered<View>(properties, space, label, layout);
}

}  // namespace KokkosHostSpaces::Impl

// Kokkos' resize and realloc call these by names that are looked up where they are used, so that
// the order of includes does not matter.
namespace Kokkos {

template <class T, class... P, class... Args>
requires KokkosHostSpaces::Impl::OrderedBy<typename View<T, P...>::memory_space,
                                           KokkosHostSpaces::Impl::ViewProperties<Args...>>
inline typename KokkosHostSpaces::Impl::OwnName<void, T>::type impl_resize(
    const KokkosHostSpaces::Impl::ViewProperties<Args...>& arg_prop, Kokkos::View<T, P...>& v,
    const size_t n0, const size_t n1, const size_t n2, const size_t n3, const size_t n4,
    const size_t n5, const size_t n6, const size_t n7) {
  KokkosHostSpaces::Impl::resize_ordered(
      arg_prop, v, KokkosHostSpaces::Impl::with_extents(v, {n0, n1, n2, n3, n4, n5, n6, n7}));
}

template <class T, class... P, class... Args>
requires KokkosHostSpaces::Impl::OrderedBy<typename View<T, P...>::memory_space,
                                           KokkosHostSpaces::Impl::ViewProperties<Args...>>
inline typename KokkosHostSpaces::Impl::OwnName<void, T>::type impl_resize(
    const KokkosHostSpaces::Impl::ViewProperties<Args...>& arg_prop, Kokkos::View<T, P...>& v,
    const typename Kokkos::View<T, P...>::array_layout& layout) {
  KokkosHostSpaces::Impl::resize_ordered(arg_prop, v, layout);
}

template <class T, class... P, class... Args>
requires KokkosHostSpaces::Impl::OrderedBy<typename View<T, P...>::memory_space,
                                           KokkosHostSpaces::Impl::ViewProperties<Args...>>
inline typename KokkosHostSpaces::Impl::OwnName<void, T>::type impl_realloc(
    Kokkos::View<T, P...>& v, const size_t n0, const size_t n1, const size_t n2, const size_t n3,
    const size_t n4, const size_t n5, const size_t n6, const size_t n7,
    const KokkosHostSpaces::Impl::ViewProperties<Args...>& arg_prop) {
  KokkosHostSpaces::Impl::realloc_ordered(
      arg_prop, v, KokkosHostSpaces::Impl::with_extents(v, {n0, n1, n2, n3, n4, n5, n6, n7}));
}

template <class T, class... P, class... Args>
requires KokkosHostSpaces::Impl::OrderedBy<typename View<T, P...>::memory_space,
                                           KokkosHostSpaces::Impl::ViewProperties<Args...>>
inline typename KokkosHostSpaces::Impl::OwnName<void, T>::type impl_realloc(
    Kokkos::View<T, P...>& v, const typename Kokkos::View<T, P...>::array_layout& layout,
    const KokkosHostSpaces::Impl::ViewProperties<Args...>& arg_prop) {
  KokkosHostSpaces::Impl::realloc_ordered(arg_prop, v, layout);
}

}  // namespace Kokkos

#endif  // KOKKOS_ENABLE_CUDA

#endif
