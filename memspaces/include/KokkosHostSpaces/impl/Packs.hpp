// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What element-wise kernels are made of: packs of 16 bytes, which the device loads at once, and how
// the elements of some Views are dealt out to threads.

#ifndef KOKKOS_HOST_SPACES_IMPL_PACKS_HPP
#define KOKKOS_HOST_SPACES_IMPL_PACKS_HPP

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// Whether kernels of an execution space gain from packs. Compilers vectorise loops of the host.
template <class ExecutionSpace>
inline constexpr bool uses_packs =
    !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// Of the team sizes the fastest for packs at all sizes of arrays, measured on an H200.
inline constexpr int team_size = 256;

template <class T, int N>
struct alignas(N * sizeof(T)) Pack {
  T values[N];
};

template <std::size_t, class View>
struct NumberedView {
  View view;
};

template <class Sequence, class... Views>
struct Inputs;

/// Views of any types, of which `for_each(f)` makes one call f(view...).
template <std::size_t... I, class... Views>
struct Inputs<std::index_sequence<I...>, Views...> : NumberedView<I, Views>... {
  explicit Inputs(Views const&... views) : NumberedView<I, Views>{views}... {}

  template <class F>
  KOKKOS_FUNCTION decltype(auto) pass_to(F const& f) const {
    return f(static_cast<NumberedView<I, Views> const&>(*this).view...);
  }
};

template <class... Views>
using InputsOf = Inputs<std::index_sequence_for<Views...>, Views...>;

template <class T>
inline constexpr bool fits_packs = sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0;

/// Elements in a pack: 16 bytes of the largest type; one if a type does not divide that.
template <class... T>
inline constexpr int pack_length = (fits_packs<T> && ...) ? int(16 / std::max({sizeof(T)...})) : 1;

template <int N, class View>
KOKKOS_FUNCTION auto& pack_of(View const& view, std::int64_t item) {
  using T       = typename View::value_type;
  using PackOfT = Pack<T, N>;
  using Qualified =
      std::conditional_t<std::is_const_v<typename View::element_type>, PackOfT const, PackOfT>;
  return reinterpret_cast<Qualified*>(view.data())[item];
}

/// op of each element of the packs.
template <class Result, int N, class Op, class... T>
KOKKOS_FUNCTION Pack<Result, N> apply_to_packs(Op const& op, Pack<T, N> const... packs) {
  Pack<Result, N> result;
  for (int k = 0; k < N; ++k) result.values[k] = op(packs.values[k]...);
  return result;
}

/// How n elements are dealt out to items of work: first the whole packs, then what is left, one by
/// one.
struct Deal {
  std::int64_t packs = 0;
  std::int64_t items = 0;
};

template <int N, class... Views>
Deal deal(std::int64_t elements, Views const&... views) {
  auto const aligned = [](auto const& view) {
    using T = typename std::decay_t<decltype(view)>::value_type;
    return reinterpret_cast<std::uintptr_t>(view.data()) % (N * sizeof(T)) == 0;
  };
  std::int64_t const packs = (aligned(views) && ...) ? elements / N : 0;
  return {packs, elements - packs * (N - 1)};
}

/// \throw std::runtime_error if the extents differ
template <class First, class... Views>
void check_element_wise(char const* function, First const& first, Views const&... views) {
  auto const check = [&](auto const& view) {
    using View = std::decay_t<decltype(view)>;
    static_assert(View::rank() == 1, "element-wise kernels take Views of rank 1");
    static_assert(
        !std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>,
        "element-wise kernels take Views with contiguous elements (LayoutLeft or LayoutRight)");
    if (view.extent(0) != first.extent(0))
      throw std::runtime_error("KokkosHostSpaces::" + std::string(function) + ": the View \"" +
                               view.label() + "\" has " + std::to_string(view.extent(0)) +
                               " elements and \"" + first.label() + "\" has " +
                               std::to_string(first.extent(0)) +
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
