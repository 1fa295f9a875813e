// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kokkos' create_mirror functions for our spaces: constrained overloads with Kokkos' signatures.
// * A mirror in one of our spaces keeps the space instance, and with it the device that the memory
// is near to
//   (stock Kokkos makes it in a default-constructed instance).
// * A mirror for an execution space that can access the memory is the View itself (stock Kokkos
// copies to the
//   execution space's preferred memory): kernels use MappedSpace in place.

#ifndef KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP
#define KOKKOS_HOST_SPACES_IMPL_MIRRORS_HPP

namespace KokkosHostSpaces::Impl {

using WithoutInitializing = std::remove_cvref_t<decltype(Kokkos::WithoutInitializing)>;

template <class ExecutionSpace, class View>
concept UsesInPlace = Kokkos::is_execution_space_v<ExecutionSpace> &&
    is_host_space_v<typename View::memory_space> &&
    bool(Kokkos::SpaceAccessibility<ExecutionSpace, typename View::memory_space>::accessible);

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos {

template <class Space, class T, class... P,
          typename Enable =
              std::enable_if_t<Kokkos::is_space<Space>::value &&
                               std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror(Space const& space, Kokkos::View<T, P...> const& src) {
  return create_mirror(view_alloc(space), src);
}

template <class Space, class T, class... P,
          typename Enable =
              std::enable_if_t<Kokkos::is_space<Space>::value &&
                               std::is_void_v<typename ViewTraits<T, P...>::specialize>>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror(KokkosHostSpaces::Impl::WithoutInitializing wi, Space const& space,
                   Kokkos::View<T, P...> const& src) {
  return create_mirror(view_alloc(space, wi), src);
}

template <class Space, class T, class... P,
          class Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror_view(const Space& space, const Kokkos::View<T, P...>& src) {
  return create_mirror_view(view_alloc(space), src);
}

template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror_view(KokkosHostSpaces::Impl::WithoutInitializing wi, Space const& space,
                        Kokkos::View<T, P...> const& src) {
  return create_mirror_view(view_alloc(space, wi), src);
}

template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::is_host_space_v<Space>
auto create_mirror_view_and_copy(
    const Space& space, const Kokkos::View<T, P...>& src, std::string const& name = "",
    std::enable_if_t<std::is_void_v<typename ViewTraits<T, P...>::specialize>>* = nullptr) {
  return create_mirror_view_and_copy(view_alloc(space, name), src);
}

template <class Space, class T, class... P,
          class Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::UsesInPlace<Space, View<T, P...>>
auto create_mirror_view(const Space&, const Kokkos::View<T, P...>& src) { return src; }

template <class Space, class T, class... P,
          typename Enable = std::enable_if_t<Kokkos::is_space<Space>::value>>
requires KokkosHostSpaces::Impl::UsesInPlace<Space, View<T, P...>>
auto create_mirror_view(KokkosHostSpaces::Impl::WithoutInitializing, Space const&,
                        Kokkos::View<T, P...> const& src) {
  return src;
}

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
