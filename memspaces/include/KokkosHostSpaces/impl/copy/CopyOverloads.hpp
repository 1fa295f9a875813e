// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Overloads of Kokkos' deep_copy: which calls this library carries out. Each calls a function that
// DeepCopy.hpp defines, so that cmake/probe can see quickly which calls reach them.
//
// They name the first argument of a View, `View<T, P0, P...>`, where Kokkos has `View<T, P...>`. So they
// are the more specialised templates, and the better match whatever the constraints and defaulted
// parameters of Kokkos' own are, and have other mangled names. Nothing is lost: a View in another space
// than the default one has arguments.
//
// Templates that call the qualified name `Kokkos::deep_copy` see only declarations before them: include
// this library first, or in all sources (docs/Porting.md).

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_OVERLOADS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_OVERLOADS_HPP

#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

#include <type_traits>

namespace KokkosHostSpaces::Impl {

// Copies between pageable and device memory, which stock Kokkos makes if they are contiguous and
// else refuses. Ours only if the program defines the macro in all sources: libraries compiled
// without it copy between these spaces, too.
#ifdef KOKKOS_HOST_SPACES_EVERYWHERE
template <class Dst, class Src>
inline constexpr bool is_taken_over_v = drives_device &&
                                        ((is_pageable_v<Dst> && is_device_only_v<Src>) ||
                                         (is_device_only_v<Dst> && is_pageable_v<Src>));
#else
template <class Dst, class Src>
inline constexpr bool is_taken_over_v = false;
#endif

template <class Dst, class Src>
concept HandledPair = is_our_pair_v<Dst, Src> || is_taken_over_v<Dst, Src>;

template <class ExecutionSpace, class Dst, class Src>
concept DeviceTakesPart =
    is_device_v<ExecutionSpace> || is_device_only_v<Dst> || is_device_only_v<Src>;

/// void stands for a call without an instance.
template <class ExecutionSpace>
inline constexpr bool is_instance_v =
    std::is_void_v<ExecutionSpace> || Kokkos::is_execution_space_v<ExecutionSpace>;

template <class Dst, class Src>
inline constexpr bool has_dimensions_v = unsigned(Dst::rank) != 0 || unsigned(Src::rank) != 0;

/// Kokkos compiles no copies of such Views.
template <class View>
inline constexpr bool is_atomic_v = View::memory_traits::is_atomic;

/// Calls of deep_copy that this library carries out: those on a device instance, and all to or from
/// device memory. Those of single elements stay Kokkos' own.
template <class ExecutionSpace, class Dst, class Src>
concept OurCopy =
    is_instance_v<ExecutionSpace> && PlainView<Dst> && PlainView<Src> && !is_atomic_v<Dst> &&
    !is_atomic_v<Src> && has_dimensions_v<Dst, Src> &&
    HandledPair<typename Dst::memory_space, typename Src::memory_space> &&
    DeviceTakesPart<ExecutionSpace, typename Dst::memory_space, typename Src::memory_space>;

/// A deep_copy of a value into memory that kernels of the instance may not access.
template <class ExecutionSpace, class Dst>
concept OurFill = is_device_v<ExecutionSpace> &&
    std::is_same_v<typename Dst::memory_space, PinnedSpace> && PlainView<Dst>;

template <class ExecutionSpace, class Dst, class Src>
void copy_views(ExecutionSpace const& instance, Dst const& dst, Src const& src);
template <class Dst, class Src>
void copy_views(Dst const& dst, Src const& src);
template <class ExecutionSpace, class Dst>
void fill_view(ExecutionSpace const& instance, Dst const& dst,
               typename Dst::const_value_type& value);

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos {

template <class ExecutionSpace, class DT, class D0, class... D, class ST, class... S>
requires KokkosHostSpaces::Impl::OurCopy<ExecutionSpace, View<DT, D0, D...>, View<ST, S...>>
void deep_copy(ExecutionSpace const& instance, View<DT, D0, D...> const& dst,
               View<ST, S...> const& src) {
  KokkosHostSpaces::Impl::copy_views(instance, dst, src);
}

template <class DT, class D0, class... D, class ST, class... S>
requires KokkosHostSpaces::Impl::OurCopy<void, View<DT, D0, D...>, View<ST, S...>>
void deep_copy(View<DT, D0, D...> const& dst, View<ST, S...> const& src) {
  KokkosHostSpaces::Impl::copy_views(dst, src);
}

// The same to a View in the default space that has no arguments; then the other one has some.

template <class ExecutionSpace, class DT, class ST, class S0, class... S>
requires KokkosHostSpaces::Impl::OurCopy<ExecutionSpace, View<DT>, View<ST, S0, S...>>
void deep_copy(ExecutionSpace const& instance, View<DT> const& dst, View<ST, S0, S...> const& src) {
  KokkosHostSpaces::Impl::copy_views(instance, dst, src);
}

template <class DT, class ST, class S0, class... S>
requires KokkosHostSpaces::Impl::OurCopy<void, View<DT>, View<ST, S0, S...>>
void deep_copy(View<DT> const& dst, View<ST, S0, S...> const& src) {
  KokkosHostSpaces::Impl::copy_views(dst, src);
}

template <class ExecutionSpace, class T, class P0, class... P>
requires KokkosHostSpaces::Impl::OurFill<ExecutionSpace, View<T, P0, P...>>
void deep_copy(ExecutionSpace const& instance, View<T, P0, P...> const& dst,
               typename View<T, P0, P...>::const_value_type& value) {
  KokkosHostSpaces::Impl::fill_view(instance, dst, value);
}

}  // namespace Kokkos

#endif
