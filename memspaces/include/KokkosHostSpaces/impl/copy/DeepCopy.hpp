// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Overloads of Kokkos::deep_copy with the parameters of Kokkos' own, word for word: a constraint
// makes them the better match, and the return type keeps their mangled names apart (see OwnName).
// Templates that call `Kokkos::deep_copy` by this name see what was declared before them, so this
// header comes first, or is included everywhere: docs/Porting.md.

#ifndef KOKKOS_HOST_SPACES_IMPL_DEEP_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEEP_COPY_HPP

#include <KokkosHostSpaces/impl/copy/CopyViews.hpp>

#include <type_traits>

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

// Pageable and device memory, which no common execution space reaches: stock Kokkos copies it
// contiguously or throws. Its own as long as not all sources of a program ask for ours, since code
// that knows nothing of this library copies between these spaces, too.
#ifdef KOKKOS_HOST_SPACES_EVERYWHERE
template <class Dst, class Src>
inline constexpr bool is_taken_over_v = (is_pageable_v<Dst> && is_cuda_only_v<Src>) ||
                                        (is_cuda_only_v<Dst> && is_pageable_v<Src>);
#else
template <class Dst, class Src>
inline constexpr bool is_taken_over_v = false;
#endif

template <class Dst, class Src>
concept OursToCopy = is_our_pair_v<Dst, Src> || is_taken_over_v<Dst, Src>;

template <class ExecutionSpace, class Dst, class Src>
concept DeviceTakesPart =
    std::is_same_v<ExecutionSpace, Kokkos::Cuda> || is_cuda_only_v<Dst> || is_cuda_only_v<Src>;

/// Calls of deep_copy that this library answers: on a Cuda instance, and to or from device memory
/// in any case.
template <class ExecutionSpace, class Dst, class Src>
concept OurCopy = PlainView<Dst> && PlainView<Src> &&
    OursToCopy<typename Dst::memory_space, typename Src::memory_space> &&
    DeviceTakesPart<ExecutionSpace, typename Dst::memory_space, typename Src::memory_space>;

/// A value into memory that kernels of the instance may not access.
template <class ExecutionSpace, class Dst>
concept OurFill = std::is_same_v<ExecutionSpace, Kokkos::Cuda> &&
    std::is_same_v<typename Dst::memory_space, PinnedSpace> && PlainView<Dst>;

}  // namespace KokkosHostSpaces::Impl

namespace Kokkos {

template <class ExecSpace, class DT, class... DP, class ST, class... SP>
requires KokkosHostSpaces::Impl::OurCopy<ExecSpace, View<DT, DP...>, View<ST, SP...>>
inline typename KokkosHostSpaces::Impl::OwnName<void, ExecSpace, DT, ST>::type deep_copy(
    const ExecSpace& exec_space, const View<DT, DP...>& dst, const View<ST, SP...>& src,
    std::enable_if_t<(Kokkos::is_execution_space<ExecSpace>::value &&
                      std::is_void_v<typename ViewTraits<DT, DP...>::specialize> &&
                      std::is_void_v<typename ViewTraits<ST, SP...>::specialize> &&
                      (unsigned(ViewTraits<DT, DP...>::rank) != 0 ||
                       unsigned(ViewTraits<ST, SP...>::rank) != 0))>* = nullptr) {
  KokkosHostSpaces::Impl::copy_views(exec_space, dst, src);
}

template <class DT, class... DP, class ST, class... SP>
requires KokkosHostSpaces::Impl::OurCopy<void, View<DT, DP...>, View<ST, SP...>>
inline typename KokkosHostSpaces::Impl::OwnName<void, DT, ST>::type deep_copy(
    const View<DT, DP...>& dst, const View<ST, SP...>& src,
    std::enable_if_t<(std::is_void_v<typename ViewTraits<DT, DP...>::specialize> &&
                      std::is_void_v<typename ViewTraits<ST, SP...>::specialize> &&
                      (unsigned(ViewTraits<DT, DP...>::rank) != 0 ||
                       unsigned(ViewTraits<ST, SP...>::rank) != 0))>* = nullptr) {
  KokkosHostSpaces::Impl::copy_views(dst, src);
}

template <class ExecSpace, class DT, class... DP>
requires KokkosHostSpaces::Impl::OurFill<ExecSpace, View<DT, DP...>>
inline typename KokkosHostSpaces::Impl::OwnName<void, ExecSpace, DT>::type deep_copy(
    const ExecSpace& space, const View<DT, DP...>& dst,
    typename ViewTraits<DT, DP...>::const_value_type& value,
    std::enable_if_t<Kokkos::is_execution_space<ExecSpace>::value &&
                     std::is_void_v<typename ViewTraits<DT, DP...>::specialize> &&
                     !Kokkos::SpaceAccessibility<
                         ExecSpace, typename ViewTraits<DT, DP...>::memory_space>::accessible>* =
        nullptr) {
  KokkosHostSpaces::Impl::retain_for_graph(space.cuda_stream(), dst.data(), nullptr);
  Kokkos::deep_copy(space, KokkosHostSpaces::Impl::reachable_by_kernels(dst), value);
}

}  // namespace Kokkos

#endif  // KOKKOS_ENABLE_CUDA

#endif
