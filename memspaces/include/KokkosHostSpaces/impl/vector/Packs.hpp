// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Packs: elements that a device loads 16 bytes at a time, and how Views split into them.

#ifndef KOKKOS_HOST_SPACES_IMPL_PACKS_HPP
#define KOKKOS_HOST_SPACES_IMPL_PACKS_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

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

/// The View lies in host memory, which a device reads over its link.
template <class View>
inline constexpr bool is_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible
#ifdef KOKKOS_HAS_SHARED_SPACE
    && !std::is_same_v<typename View::memory_space, Kokkos::SharedSpace>
#endif
    ;

/// A pack is aligned to its size, at most to 16 bytes, if the size is a power of two; else to its
/// elements.
template <class T, int N, std::size_t Bytes = std::size_t(N) * sizeof(T)>
inline constexpr std::size_t pack_alignment = std::has_single_bit(Bytes)
                                                  ? std::max(std::min(Bytes, std::size_t(16)),
                                                             alignof(T))
                                                  : alignof(T);

template <class T, int N>
struct alignas(pack_alignment<T, N>) Pack {
  T values[std::size_t(N)];
};

template <std::size_t, class T>
struct NumberedPointer {
  T const* pointer;
};

template <class Sequence, class... T>
struct Inputs;

/// Pointers to the first elements of the inputs. Views would make the kernel's parameters longer,
/// and short kernels slower.
template <std::size_t... I, class... T>
struct Inputs<std::index_sequence<I...>, T...> : NumberedPointer<I, T>... {
  explicit Inputs(T const*... pointers) : NumberedPointer<I, T>{pointers}... {}

  /// The inputs without their first `elements` elements.
  Inputs from([[maybe_unused]] std::uint64_t elements) const {
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

/// Elements of a pack: 16 bytes of the largest type; 1 if the size of a type does not divide 8.
template <class... T>
inline constexpr int pack_length = (fits_packs<T> && ...) ? int(16 / std::max({sizeof(T)...})) : 1;

/// The pack of the given number.
template <int N, class T>
KOKKOS_FUNCTION Pack<T, N>& pack_of(T* elements, std::integral auto number) {
  return reinterpret_cast<Pack<T, N>*>(elements)[number];
}
template <int N, class T>
KOKKOS_FUNCTION Pack<T, N> const& pack_of(T const* elements, std::integral auto number) {
  return reinterpret_cast<Pack<T, N> const*>(elements)[number];
}

/// Applies `op` to each element of the packs.
template <class Result, int N, class Op, class... T>
KOKKOS_FUNCTION Pack<Result, N> apply_to_packs(Op const& op, Pack<T, N> const... packs) {
  Pack<Result, N> result;
  for (int k = 0; k < N; ++k) result.values[k] = Result(op(packs.values[k]...));
  return result;
}

/// elements == packs * pack_length + rest: whole packs, and behind them single elements.
struct PackSplit {
  std::uint64_t packs = 0;
  std::uint64_t rest  = 0;

  std::uint64_t elements(int pack_length) const {
    return packs * std::uint64_t(pack_length) + rest;
  }
};

/// Makes packs if `use_packs`, and if all pointers are aligned as packs are.
template <int N, class... T>
PackSplit split_into_packs(std::size_t elements, bool use_packs, T const*... pointers) {
  bool const aligned =
      ((reinterpret_cast<std::uintptr_t>(pointers) % pack_alignment<T, N> == 0) && ...);
  std::uint64_t const packs = aligned && use_packs ? elements / N : 0;
  return {packs, elements - packs * N};
}

/// The beginning and the end of the memory of a View with contiguous elements.
template <class View>
std::pair<std::uintptr_t, std::uintptr_t> bytes_of(View const& view) {
  auto const begin = reinterpret_cast<std::uintptr_t>(view.data());
  return {begin, begin + view.extent(0) * sizeof(typename View::value_type)};
}

/// \throw Error if an input and the output share a part of their memory. Element by element the same
/// memory is fine.
template <class Out, class... In>
void check_overlaps(char const* function, Out const& out, In const&... in) {
  [[maybe_unused]] auto const check = [&](auto const& input) {
    auto const to = bytes_of(out), from = bytes_of(input);
    if (to != from && from.first < to.second && to.first < from.second)
      throw Error("KokkosHostSpaces::" + std::string(function) + ": the output \"" + out.label() +
                  "\" overlaps a part of the input \"" + input.label() +
                  "\" (elements would be read after they were written): let both be the same "
                  "elements, or copy the input first");
  };
  (check(in), ...);
}

/// \throw Error if the extents differ, or if elements are not contiguous
template <class First, class... Views>
void check_element_wise(char const* function, First const& first, Views const&... views) {
  auto const check = [&](auto const& view) {
    using View = std::decay_t<decltype(view)>;
    check_plain<View>();
    static_assert(View::rank() == 1, "element-wise kernels take Views of rank 1");
    if constexpr (std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>)
      if (view.extent(0) > 1 && view.stride(0) != 1)
        throw Error(
            "KokkosHostSpaces::" + std::string(function) + ": the elements of the View \"" +
            view.label() + "\" are " + std::to_string(view.stride(0)) +
            " elements apart (they must be contiguous): copy them to a dense View, or use a "
            "RangePolicy");
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
