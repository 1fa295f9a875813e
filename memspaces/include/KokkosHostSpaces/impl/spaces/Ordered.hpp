// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// New memory for Views that exist, near the same device: what resize and realloc do, and what
// `view_alloc(cuda, ...)` means for PinnedSpace, which kernels do not reach, there and in mirrors.
// Stock Kokkos takes memory near its default device, and refuses to compile the latter. Allocation
// is not ordered with the instance, filling and copying are.

#ifndef KOKKOS_HOST_SPACES_IMPL_ORDERED_HPP
#define KOKKOS_HOST_SPACES_IMPL_ORDERED_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

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

/// Where `view` lies; for an empty one, near the device of the instance, or Kokkos' own.
template <class View, class... P>
typename View::memory_space space_of([[maybe_unused]] ViewProperties<P...> const& properties,
                                     View const& view) {
  int device = Kokkos::device_id();
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<typename ViewProperties<P...>::execution_space, Kokkos::Cuda>)
    device = instance_in(properties).cuda_device();
#endif
  return typename View::memory_space(device_near(view.data(), device));
}

#ifdef KOKKOS_ENABLE_CUDA

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

// The elements that both have, by Kokkos' kernel.
template <class View>
void enqueue_remap(Kokkos::Cuda const& instance, View const& dst, View const& src) {
  retain_for_graph(instance.cuda_stream(), dst.data(), src.data());
  remap(reachable_by_kernels(dst), reachable_by_kernels(src), instance);
}

#else

template <class Space, class Properties>
concept OrderedBy = false;

#endif  // KOKKOS_ENABLE_CUDA

// A View in `space` as Kokkos' own resize and realloc make it.
template <class View, class... P>
View make_near(ViewProperties<P...> const& properties, typename View::memory_space const& space,
               std::string const& label, typename View::array_layout const& layout) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (OrderedBy<typename View::memory_space, ViewProperties<P...>>)
    return make_ordered<View>(properties, space, label, layout);
  else
#endif
    return View(with_unset(properties, space, label), layout);
}

/// resize; without an instance blocking, as Kokkos' own.
template <class View, class... P>
void resize_view(ViewProperties<P...> const& properties, View& view,
                 typename View::array_layout const& layout) {
  check_resizable<View, ViewProperties<P...>>();
  if (has_layout(view, layout)) return;
  View const resized =
      make_near<View>(properties, space_of(properties, view), view.label(), layout);
  if constexpr (OrderedBy<typename View::memory_space, ViewProperties<P...>>) {
    enqueue_remap(instance_in(properties), resized, view);
  } else if constexpr (ViewProperties<P...>::has_execution_space) {
    remap(resized, view, instance_in(properties));
  } else {
    remap(resized, view);
    Kokkos::fence("Kokkos::resize(View)");
  }
  view = resized;
}

/// realloc
template <class View, class... P>
void realloc_view(ViewProperties<P...> const& properties, View& view,
                  typename View::array_layout const& layout) {
  check_resizable<View, ViewProperties<P...>>();
  using Value = typename View::value_type;
  if (!has_layout(view, layout)) {
    std::string const label = view.label();
    auto const space        = space_of(properties, view);
    view                    = View();  // so that its memory may come back
    view                    = make_near<View>(properties, space, label, layout);
  } else if constexpr (ViewProperties<P...>::initialize) {
    if constexpr (ViewProperties<P...>::has_execution_space)
      Kokkos::deep_copy(instance_in(properties), view, Value{});
    else
      Kokkos::deep_copy(view, Value{});
  }
}

}  // namespace KokkosHostSpaces::Impl

#endif
