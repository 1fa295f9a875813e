// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Overloads of Kokkos' create_mirror functions, for calls with an instance of one of our spaces (stock
// Kokkos drops the instance), or with PinnedSpace and a Cuda instance (stock Kokkos refuses it). They
// return the types of Kokkos' own. As in DeepCopy.hpp, a constraint makes them the better match, and
// `decltype(auto)` instead of `auto` gives them another mangled name.

#ifndef KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP
#define KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP

#include <KokkosHostSpaces/impl/spaces/Resize.hpp>

#include <string>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// The type of Kokkos::WithoutInitializing.
using WithoutInitializing = std::remove_cvref_t<decltype(Kokkos::WithoutInitializing)>;

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos {

/// A mirror in one of our spaces, near the device of the space instance. Initialised by the host.
/// \throw KokkosHostSpaces::OutOfPinnedMemory
template <class Space, class T, class... P,
          typename Enable =
              std::enable_if_t<Kokkos::is_space<Space>::value &&
                               std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::HostSpace<Space>
decltype(auto) create_mirror(Space const& space, Kokkos::View<T, P...> const& src) {
  return create_mirror(view_alloc(space), src);
}

/// The same without initialising.
template <class Space, class T, class... P,
          typename Enable =
              std::enable_if_t<Kokkos::is_space<Space>::value &&
                               std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::HostSpace<Space>
decltype(auto) create_mirror(KokkosHostSpaces::Impl::WithoutInitializing wi, Space const& space,
                             Kokkos::View<T, P...> const& src) {
  return create_mirror(view_alloc(space, wi), src);
}

/// `src` itself if it lies in that space, else a mirror as from create_mirror.
template <class Space, class T, class... P,
          class Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::HostSpace<Space>
decltype(auto) create_mirror_view(const Space& space, const Kokkos::View<T, P...>& src) {
  return create_mirror_view(view_alloc(space), src);
}

/// The same without initialising.
template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::HostSpace<Space>
decltype(auto) create_mirror_view(KokkosHostSpaces::Impl::WithoutInitializing wi,
                                  Space const& space, Kokkos::View<T, P...> const& src) {
  return create_mirror_view(view_alloc(space, wi), src);
}

/// As create_mirror_view, with the contents of `src`, by a blocking copy.
/// \param name label of the mirror; if it is empty, the label of `src`
template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::HostSpace<Space>
decltype(auto) create_mirror_view_and_copy(
    const Space& space, const Kokkos::View<T, P...>& src, std::string const& name = "",
    std::enable_if_t<std::is_void_v<typename ViewTraits<T, P...>::specialize>>* = nullptr) {
  using Mirror = decltype(create_mirror_view(view_alloc(space), src));  // as Kokkos spells it
  return Mirror(create_mirror_view_and_copy(view_alloc(space, name), src));
}

#ifdef KOKKOS_ENABLE_CUDA

/// A mirror in PinnedSpace, filled by the Cuda instance in the properties. Asynchronous on it.
template <class T, class... P, class... Args,
          typename = std::enable_if_t<std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::PinnedMirrorWithCuda<
    KokkosHostSpaces::Impl::ViewProperties<Args...>>
decltype(auto) create_mirror(const KokkosHostSpaces::Impl::ViewProperties<Args...>& arg_prop,
                             const Kokkos::View<T, P...>& src) {
  using KokkosHostSpaces::Impl::space_in;
  using Mirror = decltype(create_mirror(view_alloc(space_in(arg_prop)), src));
  return KokkosHostSpaces::Impl::make_filled_by_cuda<Mirror>(arg_prop, space_in(arg_prop),
                                                             src.label() + "_mirror", src.layout());
}

/// `src` itself if it lies in PinnedSpace, else a mirror as above. Asynchronous on the instance.
template <class T, class... P, class... Args,
          typename = std::enable_if_t<std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::PinnedMirrorWithCuda<
    KokkosHostSpaces::Impl::ViewProperties<Args...>>
decltype(auto) create_mirror_view(const KokkosHostSpaces::Impl::ViewProperties<Args...>& arg_prop,
                                  const Kokkos::View<T, P...>& src) {
  if constexpr (KokkosHostSpaces::Impl::in_pinned_space<View<T, P...>>)
    return Kokkos::View<T, P...>(src);
  else
    return create_mirror(arg_prop, src);
}

/// As above, with the contents of `src`, copied asynchronously on the instance: fence it before the
/// host reads the mirror.
template <class... Args, class T, class... P,
          class Enable = std::enable_if_t<std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::PinnedMirrorWithCuda<
    KokkosHostSpaces::Impl::ViewProperties<Args...>>
decltype(auto) create_mirror_view_and_copy(
    const KokkosHostSpaces::Impl::ViewProperties<Args...>& arg_prop,
    const Kokkos::View<T, P...>& src) {
  if constexpr (KokkosHostSpaces::Impl::in_pinned_space<View<T, P...>>) {
    return Kokkos::View<T, P...>(src);
  } else {
    using namespace KokkosHostSpaces::Impl;
    using Mirror = decltype(create_mirror_view_and_copy(view_alloc(space_in(arg_prop)), src));
    Mirror const mirror(view_alloc(space_in(arg_prop), label_in(arg_prop, src.label()),
                                   Kokkos::WithoutInitializing),
                        src.layout());
    deep_copy(instance_in(arg_prop), mirror, src);
    return Mirror(mirror);
  }
}

#endif  // KOKKOS_ENABLE_CUDA

}  // namespace Kokkos

#endif
