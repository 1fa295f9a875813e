// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a View on the device and one in PinnedSpace have in common.

#ifndef KOKKOS_HOST_SPACES_IMPL_PINNED_SIDE_HPP
#define KOKKOS_HOST_SPACES_IMPL_PINNED_SIDE_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/spaces/Ordered.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace KokkosHostSpaces {

template <class DataType, class... Properties>
class PinnedDualView;

namespace Impl {

/// The PinnedDualView of which a View is the side of the device.
template <class View>
struct PinnedDualOf;
template <class DataType, class... Properties>
struct PinnedDualOf<Kokkos::View<DataType, Properties...>> {
  using type = PinnedDualView<DataType, Properties...>;
};

/// \throw Error unless both are the same memory
template <class Pinned, class Host>
void insist_on_pinned(Pinned const& pinned, Host const& host) {
  if (pinned.data() != host.data())
    throw Error("the host side of \"" + host.label() +
                "\" is not pinned any more (it was resized as a Kokkos::DualView): resize it as a "
                "PinnedDualView");
}

template <class Type>
concept Extent = std::convertible_to<Type, std::size_t>;

/// Does `Device` name the host's side by its space?
template <class Device>
inline constexpr bool names_pinned = std::is_same_v<typename Device::memory_space, PinnedSpace>;

/// As a DualView knows the side, of which the space is HostSpace there.
template <class Device>
using SideOf = std::conditional_t<names_pinned<Device>, Kokkos::HostSpace, Device>;

/// Are these the extents of `view` that are not in its type?
template <class View, class... N>
bool has_extents(View const& view, N... extents) {
  std::array<std::size_t, sizeof...(N)> const wanted{static_cast<std::size_t>(extents)...};
  for (std::size_t r = 0; r < View::rank_dynamic && r < wanted.size(); ++r)
    if (view.extent(r) != wanted[r]) return false;
  return true;
}

/// Pinned memory of the shape and label of `device`, near the device of the instance if the
/// properties have one. Filled by the host unless they say WithoutInitializing.
template <class Host, class Device, class... P>
Host pinned_like(ViewProperties<P...> const& properties, Device const& device) {
  PinnedSpace space;
  if constexpr (ViewProperties<P...>::has_execution_space)
    space = PinnedSpace(instance_in(properties));
  if constexpr (ViewProperties<P...>::initialize)
    return Host(Kokkos::view_alloc(space, device.label()), device.layout());
  else
    return Host(Kokkos::view_alloc(space, device.label(), Kokkos::WithoutInitializing),
                device.layout());
}

/// Pinned memory with the shape, label and contents of a View of the host.
template <class Pinned, class Host>
Pinned pinned_copy(Host const& host) {
  Pinned const copy = pinned_like<Pinned>(Kokkos::view_alloc(Kokkos::WithoutInitializing), host);
  Kokkos::deep_copy(copy, host);
  return copy;
}

}  // namespace Impl

}  // namespace KokkosHostSpaces

#endif
