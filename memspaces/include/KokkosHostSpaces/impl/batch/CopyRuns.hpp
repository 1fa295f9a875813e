// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Which pairs of Views are one run of bytes on both sides.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_RUNS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_RUNS_HPP

#include <KokkosHostSpaces/impl/batch/BatchKernels.hpp>
#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

template <class Dst, class Src>
inline constexpr bool are_bytes_v = PlainView<Dst>&& PlainView<Src>&&
    std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type>&&
        is_known_space_v<typename Dst::memory_space>&& is_known_space_v<typename Src::memory_space>;

/// Has the pair a device in it? Others are copied by the host, or by a kernel.
template <class Dst, class Src>
inline constexpr bool has_device_v =
    is_used_by_cuda_v<typename Dst::memory_space> || is_used_by_cuda_v<typename Src::memory_space>;

/// From page-locked memory to that of a device?
template <class Dst, class Src>
inline constexpr bool is_to_device_v =
    is_cuda_only_v<typename Dst::memory_space> && !is_used_by_cuda_v<typename Src::memory_space> &&
    !is_pageable_v<typename Src::memory_space>;

/// Do two Views without gaps have their elements in the same order?
template <class Dst, class Src>
inline constexpr bool is_one_order_v =
    Dst::rank() <= 1 || (std::is_same_v<typename Dst::array_layout, typename Src::array_layout> &&
                         !std::is_same_v<typename Dst::array_layout, Kokkos::LayoutStride>);

/// Has a View of one dimension no gaps?
template <class View>
inline constexpr bool is_dense_layout_v =
    std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft> ||
    std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;

/// Bytes of the pair if it is one run of bytes.
template <class Dst, class Src>
std::optional<std::size_t> bytes_of_run(Dst const& dst, Src const& src) {
  if (is_one_order_v<Dst, Src> && dst.span_is_contiguous() &&
      src.span_is_contiguous())  // quicker than a plan
    return dst.span() * sizeof(typename Dst::value_type);
  CopyPlan const plan = plan_for(dst, src);
  return plan.contiguous() ? std::optional(plan.run_bytes) : std::nullopt;
}

/// The pair as one run of bytes, or nothing if it is not: 0 bytes if there is nothing to copy.
template <class Dst, class Src>
std::optional<CopyPiece> piece_of(Dst const& dst, Src const& src, std::uint32_t pair) {
  if constexpr (are_bytes_v<Dst, Src>) {
    if (auto const bytes = bytes_of_run(dst, src))
      return CopyPiece{
          reinterpret_cast<char*>(dst.data()), reinterpret_cast<char const*>(src.data()), *bytes,
          pair,
          is_pageable_v<typename Dst::memory_space> || is_pageable_v<typename Src::memory_space>};
  }
  return std::nullopt;
}

}  // namespace KokkosHostSpaces::Impl

#endif
