// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// resize and realloc of Views in our spaces, which keep the memory near the same device (stock
// Kokkos takes its default device), and `view_alloc(instance, ...)` with PinnedSpace, here and in
// mirrors (stock Kokkos refuses to compile it). Allocation is not ordered with the instance;
// filling and copying are.

#ifndef KOKKOS_HOST_SPACES_IMPL_RESIZE_HPP
#define KOKKOS_HOST_SPACES_IMPL_RESIZE_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>
#include <KokkosHostSpaces/impl/spaces/Mirrors.hpp>
#include <KokkosHostSpaces/impl/spaces/ResizeOverloads.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// Refuses to compile what Kokkos' own resize and realloc refuse.
template <class View, class Properties>
constexpr void check_resizable() {
  static_assert(!View::traits::memory_traits::is_unmanaged,
                "only managed Views can be resized or reallocated");
  static_assert(!Properties::has_label && !Properties::has_pointer && !Properties::has_memory_space,
                "the arguments of resize and realloc must not include a label, a pointer, or a "
                "memory space instance");
}

/// The layout of `view` with other dynamic extents.
/// \throw Error if there are fewer extents than dynamic dimensions, or more than dimensions
template <class View>
typename View::array_layout with_extents(View const& view, AllExtents const& extents) {
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

/// Returns true if `view` has this layout. Compares strides only for LayoutStride: in other layouts
/// they follow from the extents.
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

/// Returns a space near the device of the memory of `view`; for a View without memory near the
/// device of the instance, or else Kokkos' default device.
template <class View, class... P>
typename View::memory_space space_of([[maybe_unused]] ViewProperties<P...> const& properties,
                                     View const& view) {
  int device = Kokkos::device_id();
  if constexpr (is_driven_v<typename ViewProperties<P...>::execution_space>)
    device = device_id_of(instance_in(properties));
  return typename View::memory_space(device_near(view.data(), device));
}

template <class View, class Properties, std::size_t... Rank>
View make_of_extents(Properties const& properties, typename View::array_layout const& layout,
                     std::index_sequence<Rank...>) {
  return View(properties, layout.dimension[Rank]...);
}

// Kokkos pads Views that are made of extents; a layout it takes as it is.
template <class View, class Properties>
View make_padded(Properties const& properties, typename View::array_layout const& layout) {
  using Layout = typename View::array_layout;
  if constexpr (Properties::allow_padding && !std::is_same_v<Layout, Kokkos::LayoutStride>) {
    if (layout.stride == Layout().stride)  // none is given
      return make_of_extents<View>(properties, layout,
                                   std::make_index_sequence<View::rank_dynamic>());
  }
  return View(properties, layout);
}

/// A View in `space`. The instance fills it with zeros, asynchronously, unless the properties say
/// WithoutInitializing.
template <class View, class... P>
View make_filled_by_device(ViewProperties<P...> const& properties,
                           typename View::memory_space const& space, std::string const& label,
                           typename View::array_layout const& layout) {
  using Value     = typename View::non_const_value_type;
  auto const make = [&](auto const&... more) {
    if constexpr (ViewProperties<P...>::allow_padding)
      return make_padded<View>(Kokkos::view_alloc(space, label, Kokkos::AllowPadding, more...),
                               layout);
    else
      return View(Kokkos::view_alloc(space, label, more...), layout);
  };
  if constexpr (!ViewProperties<P...>::initialize) {
    return make(Kokkos::WithoutInitializing);
  } else if constexpr (std::is_trivially_default_constructible_v<Value>) {
    View const view = make(Kokkos::WithoutInitializing);
    Kokkos::deep_copy(instance_in(properties), view, Value{});
    return view;
  } else {
    return make();  // constructors run on the host
  }
}

// Copies the elements that both Views have, by Kokkos' kernel.
template <class ExecutionSpace, class View>
void enqueue_remap(ExecutionSpace const& instance, View const& dst, View const& src) {
  if constexpr (is_driven_v<ExecutionSpace>)
    retain_for_graph(stream_of(instance), dst.data(), src.data());
  remap(reachable_by_kernels(dst), reachable_by_kernels(src), instance);
}

// A View in `space`, filled as Kokkos' own resize and realloc fill it.
template <class View, class... P>
View make_view(ViewProperties<P...> const& properties, typename View::memory_space const& space,
               std::string const& label, typename View::array_layout const& layout) {
  if constexpr (PinnedOnDevice<typename View::memory_space, ViewProperties<P...>>)
    return make_filled_by_device<View>(properties, space, label, layout);
  else
    return make_padded<View>(with_unset(properties, space, label), layout);
}

/// Kokkos::resize. Blocks without an instance.
template <class View, class... P>
void resize_view(ViewProperties<P...> const& properties, View& view,
                 typename View::array_layout const& layout) {
  check_resizable<View, ViewProperties<P...>>();
  if (has_layout(view, layout)) return;
  View const resized =
      make_view<View>(properties, space_of(properties, view), view.label(), layout);
  if constexpr (PinnedOnDevice<typename View::memory_space, ViewProperties<P...>>) {
    enqueue_remap(instance_in(properties), resized, view);
  } else if constexpr (ViewProperties<P...>::has_execution_space) {
    remap(resized, view, instance_in(properties));
  } else {
    remap(resized, view);
    Kokkos::fence("Kokkos::resize(View)");
  }
  view = resized;
}

/// Kokkos::realloc.
template <class View, class... P>
void realloc_view(ViewProperties<P...> const& properties, View& view,
                  typename View::array_layout const& layout) {
  check_resizable<View, ViewProperties<P...>>();
  using Value = typename View::value_type;
  if (!has_layout(view, layout)) {
    std::string const label = view.label();
    auto const space        = space_of(properties, view);
    view                    = View();  // the pool may give its memory to the new View
    view                    = make_view<View>(properties, space, label, layout);
  } else if constexpr (ViewProperties<P...>::initialize) {
    if constexpr (ViewProperties<P...>::has_execution_space)
      Kokkos::deep_copy(instance_in(properties), view, Value{});
    else
      Kokkos::deep_copy(view, Value{});
  }
}

}  // namespace KokkosHostSpaces::Impl

#endif
