// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Overloads of Kokkos' create_mirror functions, for calls with an instance of one of our spaces (stock
// Kokkos drops the instance), or with PinnedSpace and a device instance (stock Kokkos refuses it). They
// return the types of Kokkos' own. As in impl/copy/CopyOverloads.hpp they are the better match by their
// parameters: they name the type of the space, or the first two properties.

#ifndef KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP
#define KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP

#include <KokkosHostSpaces/impl/copy/CopyOverloads.hpp>

#include <string>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// The type of Kokkos::WithoutInitializing.
using WithoutInitializing = std::remove_cvref_t<decltype(Kokkos::WithoutInitializing)>;

/// Kokkos' create_mirror by view_alloc, which keeps the space instance.
template <class View, class... Properties>
auto mirror_of(View const& src, Properties const&... properties) {
  return create_mirror(Kokkos::view_alloc(properties...), src);
}

/// The same of create_mirror_view.
template <class View, class... Properties>
auto mirror_view_of(View const& src, Properties const&... properties) {
  return create_mirror_view(Kokkos::view_alloc(properties...), src);
}

/// The same of create_mirror_view_and_copy.
template <class View, class Space>
auto mirror_view_and_copy_of(View const& src, Space const& space, std::string const& name) {
  using Mirror =
      decltype(create_mirror_view(Kokkos::view_alloc(space), src));  // as Kokkos spells it
  return Mirror(create_mirror_view_and_copy(Kokkos::view_alloc(space, name), src));
}

/// PinnedSpace, which kernels cannot access, with a device instance among the properties.
template <class Space, class Properties>
concept PinnedOnDevice =
    std::is_same_v<Space, PinnedSpace> && is_device_v<typename Properties::execution_space>;

/// The same of a mirror.
template <class Properties>
concept PinnedMirrorOnDevice = PinnedOnDevice<typename Properties::memory_space, Properties>;

/// The View is its own mirror in PinnedSpace.
template <class View>
inline constexpr bool in_pinned_space = std::is_same_v<typename View::memory_space, PinnedSpace>;

/// Makes a View in `space` that work on the instance among the properties fills. Resize.hpp defines it.
template <class View, class... P>
View make_filled_by_device(ViewProperties<P...> const& properties,
                           typename View::memory_space const& space, std::string const& label,
                           typename View::array_layout const& layout);

/// Makes what create_mirror makes, filled on the instance among the properties.
template <class... P, class View>
auto mirror_by_device(ViewProperties<P...> const& properties, View const& src) {
  auto const& space = space_in(properties);
  using Mirror      = decltype(create_mirror(Kokkos::view_alloc(space), src));
  return make_filled_by_device<Mirror>(properties, space, src.label() + "_mirror", src.layout());
}

/// Returns what create_mirror_view returns, filled on the instance among the properties.
template <class... P, class View>
auto mirror_view_by_device(ViewProperties<P...> const& properties, View const& src) {
  if constexpr (in_pinned_space<View>)
    return View(src);
  else
    return mirror_by_device(properties, src);
}

/// Returns what create_mirror_view_and_copy returns, copied on the instance among the properties.
template <class... P, class View>
auto mirror_view_and_copy_by_device(ViewProperties<P...> const& properties, View const& src) {
  if constexpr (in_pinned_space<View>) {
    return View(src);
  } else {
    auto const& space = space_in(properties);
    using Mirror      = decltype(create_mirror_view_and_copy(Kokkos::view_alloc(space), src));
    Mirror const mirror(
        Kokkos::view_alloc(space, label_in(properties, src.label()), Kokkos::WithoutInitializing),
        src.layout());
    Kokkos::deep_copy(instance_in(properties), mirror, src);
    return Mirror(mirror);
  }
}

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos {

// Of a View:
// - create_mirror: a mirror in that space, near the device of the space instance; the host initialises it
//   with zeros, except with WithoutInitializing.
// - create_mirror_view: the View itself if it lies in that space, else the same.
// - create_mirror_view_and_copy: the same with the contents of the View, by a blocking copy. `name` is the
//   label of the mirror; if it is empty, it has the label of the View.
// All throw KokkosHostSpaces::OutOfPinnedMemory.
#define KOKKOS_HOST_SPACES_IMPL_MIRRORS_IN(SPACE)                                                  \
  template <class T, class... P>                                                                   \
  auto create_mirror(KokkosHostSpaces::SPACE const& space, View<T, P...> const& src) {             \
    return KokkosHostSpaces::Impl::mirror_of(src, space);                                          \
  }                                                                                                \
  template <class T, class... P>                                                                   \
  auto create_mirror(KokkosHostSpaces::Impl::WithoutInitializing without,                          \
                     KokkosHostSpaces::SPACE const& space, View<T, P...> const& src) {             \
    return KokkosHostSpaces::Impl::mirror_of(src, space, without);                                 \
  }                                                                                                \
  template <class T, class... P>                                                                   \
  auto create_mirror_view(KokkosHostSpaces::SPACE const& space, View<T, P...> const& src) {        \
    return KokkosHostSpaces::Impl::mirror_view_of(src, space);                                     \
  }                                                                                                \
  template <class T, class... P>                                                                   \
  auto create_mirror_view(KokkosHostSpaces::Impl::WithoutInitializing without,                     \
                          KokkosHostSpaces::SPACE const& space, View<T, P...> const& src) {        \
    return KokkosHostSpaces::Impl::mirror_view_of(src, space, without);                            \
  }                                                                                                \
  template <class T, class... P>                                                                   \
  auto create_mirror_view_and_copy(KokkosHostSpaces::SPACE const& space, View<T, P...> const& src, \
                                   std::string const& name = "") {                                 \
    return KokkosHostSpaces::Impl::mirror_view_and_copy_of(src, space, name);                      \
  }

KOKKOS_HOST_SPACES_IMPL_MIRRORS_IN(PinnedSpace)
KOKKOS_HOST_SPACES_IMPL_MIRRORS_IN(MappedSpace)
KOKKOS_HOST_SPACES_IMPL_MIRRORS_IN(WriteCombinedSpace)
#undef KOKKOS_HOST_SPACES_IMPL_MIRRORS_IN

/// A mirror in PinnedSpace, filled by the device instance in the properties. Asynchronous on it.
template <class T, class... P, class A0, class A1, class... Args>
requires KokkosHostSpaces::Impl::PinnedMirrorOnDevice<
    KokkosHostSpaces::Impl::ViewProperties<A0, A1, Args...>>
auto create_mirror(KokkosHostSpaces::Impl::ViewProperties<A0, A1, Args...> const& properties,
                   View<T, P...> const& src) {
  return KokkosHostSpaces::Impl::mirror_by_device(properties, src);
}

/// `src` itself if it lies in PinnedSpace, else a mirror as above. Asynchronous on the instance.
template <class T, class... P, class A0, class A1, class... Args>
requires KokkosHostSpaces::Impl::PinnedMirrorOnDevice<
    KokkosHostSpaces::Impl::ViewProperties<A0, A1, Args...>>
auto create_mirror_view(KokkosHostSpaces::Impl::ViewProperties<A0, A1, Args...> const& properties,
                        View<T, P...> const& src) {
  return KokkosHostSpaces::Impl::mirror_view_by_device(properties, src);
}

/// As above, with the contents of `src`, copied asynchronously on the instance: fence it before the
/// host reads the mirror.
template <class T, class... P, class A0, class A1, class... Args>
requires KokkosHostSpaces::Impl::PinnedMirrorOnDevice<
    KokkosHostSpaces::Impl::ViewProperties<A0, A1, Args...>>
auto create_mirror_view_and_copy(
    KokkosHostSpaces::Impl::ViewProperties<A0, A1, Args...> const& properties,
    View<T, P...> const& src) {
  return KokkosHostSpaces::Impl::mirror_view_and_copy_by_device(properties, src);
}

}  // namespace Kokkos

#endif
