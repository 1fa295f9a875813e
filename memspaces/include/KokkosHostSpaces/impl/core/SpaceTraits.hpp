// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Properties of memory spaces as types, from which KokkosGlue.hpp derives access and copies.

#ifndef KOKKOS_HOST_SPACES_IMPL_SPACE_TRAITS_HPP
#define KOKKOS_HOST_SPACES_IMPL_SPACE_TRAITS_HPP

#include <KokkosHostSpaces/impl/core/Device.hpp>
#include <KokkosHostSpaces/impl/core/SameBuild.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

class PinnedSpace;
class MappedSpace;
class WriteCombinedSpace;

namespace Impl {

/// False: for the sentence of an overload that only wrong calls reach.
template <class...>
inline constexpr bool never_v = false;

template <class Space>
concept ExecutionSpace = Kokkos::is_execution_space_v<Space>;
template <class T>
concept NoInstance = !ExecutionSpace<T>;

template <class...>
inline constexpr bool begins_with_label_v = false;
template <class Label, class Instance, class... Others>
inline constexpr bool begins_with_label_v<Label, Instance, Others...> =
    std::is_convertible_v<Label, std::string>&& ExecutionSpace<Instance>;

/// Arguments of a call that begin with a label and an instance.
template <class... What>
concept BeginsWithLabel = begins_with_label_v<What...>;

/// All spaces of this library. Tests go through this list.
template <class... Spaces>
struct SpaceList {
  template <class Space>
  static constexpr bool has = (std::is_same_v<Space, Spaces> || ...);
};
using HostSpaces = SpaceList<PinnedSpace, MappedSpace, WriteCombinedSpace>;

template <class Space>
concept HostSpace = HostSpaces::has<Space>;

template <class Space>
inline constexpr bool is_pageable_v = std::is_same_v<Space, Kokkos::HostSpace>;

template <class Space>
inline constexpr bool is_page_locked_v = HostSpace<Space> || is_device_pinned_v<Space>;
template <class Space>
inline constexpr bool is_known_space_v =
    is_page_locked_v<Space> || is_used_by_device_v<Space> || is_pageable_v<Space>;

/// The space of Kokkos whose memory a stock back end takes.
template <class Space>
using StockSpaceOf = std::conditional_t<HostSpace<Space>, DevicePinnedSpace, Space>;

template <class Dst, class Src>
inline constexpr bool is_our_pair_v =
    (HostSpace<Dst> || HostSpace<Src>)&&is_known_space_v<Dst>&& is_known_space_v<Src>;

/// Pairs of spaces whose copies are ours: at least one space is.
template <class Dst, class Src>
concept OurPair = is_our_pair_v<Dst, Src>;

template <class Dst, class Src>
concept TwoSpaces = OurPair<Dst, Src> && !std::is_same_v<Dst, Src>;

/// A View in `Src` may be assigned to a View in `Dst`.
template <class Dst, class Src>
inline constexpr bool assignable_v = std::is_same_v<Dst, Src> ||
                                     (is_pageable_v<Dst> && (std::is_same_v<Src, PinnedSpace> ||
                                                             std::is_same_v<Src, MappedSpace>)) ||
                                     (std::is_same_v<Dst, PinnedSpace> &&
                                      std::is_same_v<Src, MappedSpace>);

/// The execution space of `Dst` may access memory in `Src`.
template <class Dst, class Src>
inline constexpr bool accessible_v =
    is_used_by_device_v<Dst> ? !std::is_same_v<Src, PinnedSpace> : !is_device_only_v<Src>;

}  // namespace Impl
}  // namespace KokkosHostSpaces

#endif
