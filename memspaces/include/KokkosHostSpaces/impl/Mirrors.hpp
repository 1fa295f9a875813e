// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kokkos' create_mirror functions for our spaces: constrained overloads with Kokkos' signatures.

#ifndef KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP
#define KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP

namespace KokkosHostSpaces::Impl {

/// The type of Kokkos::WithoutInitializing.
using WithoutInitializing = std::remove_cvref_t<decltype(Kokkos::WithoutInitializing)>;

/// Work of the execution space may access the View, which lies in one of our spaces.
template <class ExecutionSpace, class View>
concept UsesInPlace = Kokkos::is_execution_space_v<ExecutionSpace> &&
    is_host_space_v<typename View::memory_space> &&
    bool(Kokkos::SpaceAccessibility<ExecutionSpace, typename View::memory_space>::accessible);

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos {

/// A mirror in one of our spaces, near the device of the space instance (stock Kokkos makes it in a
/// default-constructed instance). Initialised by the host.
/// \throw KokkosHostSpaces::OutOfPinnedMemory
template <class Space, class T, class... P,
          typename Enable =
              std::enable_if_t<Kokkos::is_space<Space>::value &&
                               std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror(Space const& space, Kokkos::View<T, P...> const& src) {
  return create_mirror(view_alloc(space), src);
}

/// As above, not initialised.
template <class Space, class T, class... P,
          typename Enable =
              std::enable_if_t<Kokkos::is_space<Space>::value &&
                               std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror(KokkosHostSpaces::Impl::WithoutInitializing wi, Space const& space,
                   Kokkos::View<T, P...> const& src) {
  return create_mirror(view_alloc(space, wi), src);
}

/// `src` itself if it lies in that space already, else a mirror as from create_mirror.
template <class Space, class T, class... P,
          class Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror_view(const Space& space, const Kokkos::View<T, P...>& src) {
  return create_mirror_view(view_alloc(space), src);
}

/// As above, not initialised.
template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror_view(KokkosHostSpaces::Impl::WithoutInitializing wi, Space const& space,
                        Kokkos::View<T, P...> const& src) {
  return create_mirror_view(view_alloc(space, wi), src);
}

/// As create_mirror_view, with the contents of `src`, after a blocking copy. The mirror has the
/// label `name`, or that of `src` if it is empty.
template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror_view_and_copy(
    const Space& space, const Kokkos::View<T, P...>& src, std::string const& name = "",
    std::enable_if_t<std::is_void_v<typename ViewTraits<T, P...>::specialize>>* = nullptr) {
  return create_mirror_view_and_copy(view_alloc(space, name), src);
}

/// `src` itself: kernels that can access it use it in place (stock Kokkos makes a mirror in the
/// preferred memory of the execution space).
template <class Space, class T, class... P,
          class Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::UsesInPlace<Space, View<T, P...>>
auto create_mirror_view(const Space&, const Kokkos::View<T, P...>& src) { return src; }

/// As above.
template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::UsesInPlace<Space, View<T, P...>>
auto create_mirror_view(KokkosHostSpaces::Impl::WithoutInitializing, Space const&,
                        Kokkos::View<T, P...> const& src) {
  return src;
}

/// `src` itself, after a fence of all instances.
template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::UsesInPlace<Space, View<T, P...>>
auto create_mirror_view_and_copy(
    const Space&, const Kokkos::View<T, P...>& src, [[maybe_unused]] std::string const& name = "",
    std::enable_if_t<std::is_void_v<typename ViewTraits<T, P...>::specialize>>* = nullptr) {
  Kokkos::fence("Kokkos::create_mirror_view_and_copy: fence before returning src view");
  return src;
}

}  // namespace Kokkos

#endif
