// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What element-wise kernels are made of: packs of 16 bytes, which the device loads at once, and how
// the elements of some Views are dealt out to threads.

#ifndef KOKKOS_HOST_SPACES_IMPL_PACKS_HPP
#define KOKKOS_HOST_SPACES_IMPL_PACKS_HPP

#include <KokkosHostSpaces/Error.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// Whether kernels of an execution space gain from packs. Compilers vectorise loops of the host.
template <class ExecutionSpace>
inline constexpr bool uses_packs =
    !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// Does the memory of the host stand behind a View, so that a device reaches it over its link?
template <class View>
inline constexpr bool is_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible
#ifdef KOKKOS_HAS_SHARED_SPACE
    && !std::is_same_v<typename View::memory_space, Kokkos::SharedSpace>
#endif
    ;

/// Is its memory that of a device and of nobody else? With unified memory Kokkos takes CudaSpace from
/// the system.
template <class View>
inline constexpr bool is_on_device =
#ifdef KOKKOS_ENABLE_CUDA
    std::is_same_v<typename View::memory_space, Kokkos::CudaSpace> && !is_on_host<View>;
#else
    false;
#endif

/// Marks the operator that takes the number of an item, not of an element.
struct ByItem {};

/// 16 bytes are loaded at once if they are aligned; what is larger, or of a size that is no power
/// of two, in pieces.
template <class T, int N>
inline constexpr std::size_t pack_alignment =
    std::has_single_bit(N * sizeof(T))
        ? std::max(std::min(N * sizeof(T), std::size_t(16)), alignof(T))
        : alignof(T);

template <class T, int N>
struct alignas(pack_alignment<T, N>) Pack {
  T values[N];
};

template <std::size_t, class T>
struct NumberedPointer {
  T const* pointer;
};

template <class Sequence, class... T>
struct Inputs;

/// The first elements of some arrays. Pointers and not Views, because small kernels take the longer
/// the more parameters they have.
template <std::size_t... I, class... T>
struct Inputs<std::index_sequence<I...>, T...> : NumberedPointer<I, T>... {
  explicit Inputs(T const*... pointers) : NumberedPointer<I, T>{pointers}... {}

  /// Those of the elements behind so many.
  Inputs from(std::uint64_t elements) const {
    return Inputs((static_cast<NumberedPointer<I, T> const&>(*this).pointer + elements)...);
  }

  /// f(pointer...)
  template <class F>
  KOKKOS_FUNCTION decltype(auto) pass_to(F const& f) const {
    return f(static_cast<NumberedPointer<I, T> const&>(*this).pointer...);
  }
};

template <class... T>
using InputsOf = Inputs<std::index_sequence_for<T...>, T...>;

template <class T>
inline constexpr bool fits_packs = sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0;

/// Elements in a pack: 16 bytes of the largest type; one if a type does not divide that.
template <class... T>
inline constexpr int pack_length = (fits_packs<T> && ...) ? int(16 / std::max({sizeof(T)...})) : 1;

template <int N, class T>
KOKKOS_FUNCTION Pack<T, N>& pack_of(T* elements, std::integral auto item) {
  return reinterpret_cast<Pack<T, N>*>(elements)[item];
}
template <int N, class T>
KOKKOS_FUNCTION Pack<T, N> const& pack_of(T const* elements, std::integral auto item) {
  return reinterpret_cast<Pack<T, N> const*>(elements)[item];
}

/// op of each element of the packs.
template <class Result, int N, class Op, class... T>
KOKKOS_FUNCTION Pack<Result, N> apply_to_packs(Op const& op, Pack<T, N> const... packs) {
  Pack<Result, N> result;
  for (int k = 0; k < N; ++k) result.values[k] = Result(op(packs.values[k]...));
  return result;
}

/// How n elements are dealt out: whole packs, and behind them the rest, one by one.
struct PackSplit {
  std::uint64_t packs = 0;
  std::uint64_t rest  = 0;

  std::uint64_t elements(int pack_length) const {
    return packs * std::uint64_t(pack_length) + rest;
  }
};

/// In packs if the arrays allow it, and `packs`.
template <int N, class... T>
PackSplit deal(std::size_t elements, bool packs, T const*... pointers) {
  bool const aligned =
      ((reinterpret_cast<std::uintptr_t>(pointers) % pack_alignment<T, N> == 0) && ...);
  std::uint64_t const whole = aligned && packs ? elements / N : 0;
  return {whole, elements - whole * N};
}

/// \throw Error if the extents differ
template <class First, class... Views>
void check_element_wise(char const* function, First const& first, Views const&... views) {
  auto const check = [&](auto const& view) {
    using View = std::decay_t<decltype(view)>;
    static_assert(View::rank() == 1, "element-wise kernels take Views of rank 1");
    static_assert(
        !std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>,
        "element-wise kernels take Views with contiguous elements (LayoutLeft or LayoutRight)");
    if (view.extent(0) != first.extent(0))
      throw Error("KokkosHostSpaces::" + std::string(function) + ": the View \"" + view.label() +
                  "\" has " + std::to_string(view.extent(0)) + " elements and \"" + first.label() +
                  "\" has " + std::to_string(first.extent(0)) +
                  " (all must have the same number): pass subviews of equal extents");
  };
  check(first);
  (check(views), ...);
}

template <class ExecutionSpace, class... Views>
constexpr void check_access() {
  static_assert(
      (Kokkos::SpaceAccessibility<ExecutionSpace, typename Views::memory_space>::accessible && ...),
      "kernels of this execution space cannot access the memory space of a View: "
      "copy it with deep_copy, or take MappedSpace or mapped_view");
}

}  // namespace KokkosHostSpaces::Impl

#endif
