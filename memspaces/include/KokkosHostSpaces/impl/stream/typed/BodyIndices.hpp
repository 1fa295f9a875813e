// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Indices of a range that the body cannot hold: many bodies take them as int, as they do in Kokkos.

#ifndef KOKKOS_HOST_SPACES_IMPL_BODY_INDICES_HPP
#define KOKKOS_HOST_SPACES_IMPL_BODY_INDICES_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/StreamedArguments.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// The parameters of a body, as a tuple; no elements if it is a template or overloaded: then it takes
/// std::int64_t, or nobody knows.
template <class T>
struct ParametersOf : std::type_identity<std::tuple<>> {};
template <class C, class R, class... P>
struct ParametersOf<R (C::*)(P...) const> : std::type_identity<std::tuple<P...>> {};
template <class C, class R, class... P>
struct ParametersOf<R (C::*)(P...) const noexcept> : std::type_identity<std::tuple<P...>> {};
template <class R, class... P>
struct ParametersOf<R (*)(P...)> : std::type_identity<std::tuple<P...>> {};
template <class Body>
requires requires { &Body::operator(); }
struct ParametersOf<Body> : ParametersOf<decltype(&Body::operator())> {};

template <class Parameters, std::size_t D>
struct IndexType : std::type_identity<std::int64_t> {};
template <class Parameters, std::size_t D>
requires(D < std::tuple_size_v<Parameters>)  //
    struct IndexType<Parameters, D> {
  using Taken = std::remove_cvref_t<std::tuple_element_t<D, Parameters>>;
  using type  = std::conditional_t<std::is_integral_v<Taken>, Taken, std::int64_t>;
};

/// The integer as which a body takes index D; std::int64_t if that is not known.
template <class Body, std::size_t D>
using IndexOfBody = typename IndexType<typename ParametersOf<Body>::type, D>::type;

template <std::size_t D, class Index, int Rank>
void check_index(std::string const& label, Box<Rank> const& range) {
  if constexpr (sizeof(Index) < sizeof(std::int64_t)) {
    using Limits        = std::numeric_limits<Index>;
    bool const is_empty = range.lower[D] >= range.upper[D];
    if (is_empty || (range.lower[D] >= Limits::min() && range.upper[D] - 1 <= Limits::max()))
      return;
    throw Error(label + ": the range goes from " + std::to_string(range.lower[D]) + " to " +
                std::to_string(range.upper[D]) + " in index " + std::to_string(D) +
                ", and the body takes it as an integer of " + std::to_string(sizeof(Index)) +
                " bytes (which holds " + std::to_string(Limits::max()) +
                " at most): let it take std::int64_t");
  }
}

/// \throw Error if `Body` takes an index as an integer that cannot hold the bounds of the range
template <class Body, int Rank>
void check_indices(std::string const& label, Box<Rank> const& range) {
  check_index<0, IndexOfBody<Body, 0>>(label, range);
  if constexpr (Rank > 1) check_index<1, IndexOfBody<Body, 1>>(label, range);
  if constexpr (Rank > 2) check_index<2, IndexOfBody<Body, 2>>(label, range);
}

}  // namespace KokkosHostSpaces::Impl

#endif
