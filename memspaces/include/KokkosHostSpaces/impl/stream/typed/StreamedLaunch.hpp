// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels of streamed loops, which call the user's body for a box of global indices. They count in 32 bits
// from the corner of the box, which takes fewer registers.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMED_LAUNCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMED_LAUNCH_HPP

#include <KokkosHostSpaces/ParallelFor.hpp>
#include <KokkosHostSpaces/ParallelReduce.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedChunk.hpp>
#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/StreamedArguments.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

// --- indices: many bodies take them as int, as they do in Kokkos ---

/// The parameters of a body, as a tuple; without elements if the body is a template or overloaded, because its
/// parameters cannot be known then: it is called with std::int64_t.
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

// --- kernels ---

/// A box of global indices.
struct LaunchBox {
  std::int64_t lower[3] = {0, 0, 0};
  std::int64_t upper[3] = {1, 1, 1};
  int extent(int d) const { return static_cast<int>(upper[d] - lower[d]); }
};

template <int Rank, class Body, class... Rest>
inline constexpr bool is_callable =
    std::is_invocable_v<Body const&, std::int64_t, std::int64_t, std::int64_t, Rest...>;
template <class Body, class... Rest>
inline constexpr bool is_callable<1, Body, Rest...> =
    std::is_invocable_v<Body const&, std::int64_t, Rest...>;
template <class Body, class... Rest>
inline constexpr bool is_callable<2, Body, Rest...> =
    std::is_invocable_v<Body const&, std::int64_t, std::int64_t, Rest...>;

/// Calls body(index..., chunk..., more...), or with references to elements instead of chunks.
template <int Rank, class Body, class... Chunks>
struct BodyCall {
  Body body;
  ChunkPack<Chunks...> chunks;

  template <class... More>
  static constexpr bool takes_chunks = is_callable<Rank, Body, Chunks..., More...>;

  template <class... More>
  static constexpr void check() {
    if constexpr (!takes_chunks<More...>)
      static_assert(
          Rank == 1 && std::is_invocable_v<Body const&, std::int64_t,
                                           typename Chunks::value_type&..., More...>,
          "the body cannot be called with the indices (std::int64_t), the chunks of the arguments in "
          "their order (khs::const_chunk_of<View> for khs::read, else "
          "khs::chunk_of<View>), and for a reduction the value; it is called as const");
  }

  template <class... More>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  More&... more) const {
    chunks.pass_to([&](Chunks const&... chunk) { call(i, j, k, chunk..., more...); });
  }

 private:
  template <class... More>
  KOKKOS_FUNCTION void call(std::int64_t i, [[maybe_unused]] std::int64_t j,
                            [[maybe_unused]] std::int64_t k, Chunks const&... chunk,
                            More&... more) const {
    auto const a = static_cast<IndexOfBody<Body, 0>>(i);
    if constexpr (!takes_chunks<More&...>)
      body(a, chunk(i)..., more...);
    else if constexpr (Rank == 1)
      body(a, chunk..., more...);
    else if constexpr (Rank == 2)
      body(a, static_cast<IndexOfBody<Body, 1>>(j), chunk..., more...);
    else
      body(a, static_cast<IndexOfBody<Body, 1>>(j), static_cast<IndexOfBody<Body, 2>>(k), chunk...,
           more...);
  }
};

/// A step of a stencil over all elements: copies the elements outside of the range.
template <int Rank, class Call, class Source, class Result>
struct StepCall {
  Call call;
  Source source;
  Result result;
  LaunchBox inside;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const at[3] = {i, j, k};
    bool in                  = true;
    for (int d = 0; d < Rank; ++d) in = in && at[d] >= inside.lower[d] && at[d] < inside.upper[d];
    if (in)
      call(i, j, k);
    else if constexpr (Rank == 1)
      result(i) = source(i);
    else if constexpr (Rank == 2)
      result(i, j) = source(i, j);
    else
      result(i, j, k) = source(i, j, k);
  }
};

/// Index 0 of the policy is the fastest one: neighbouring threads of a device have neighbouring values of it.
template <int Rank, bool Right, class Call>
struct BoxKernel {
  Call call;
  LaunchBox box;

  template <class... More>
  KOKKOS_FUNCTION void at(int a, int b, int c, More&... more) const {
    if constexpr (Rank == 1)
      call(box.lower[0] + a, 0, 0, more...);
    else if constexpr (Rank == 2)
      call(box.lower[0] + (Right ? b : a), box.lower[1] + (Right ? a : b), 0, more...);
    else
      call(box.lower[0] + (Right ? c : a), box.lower[1] + b, box.lower[2] + (Right ? a : c),
           more...);
  }

  /// Of rank 2 and 3.
  template <class ExecutionSpace>
  auto policy(ExecutionSpace const& instance) const {
    int const e[3] = {box.extent(0), box.extent(1), box.extent(2)};
    using Policy   = Kokkos::MDRangePolicy<
        ExecutionSpace, Kokkos::Rank<unsigned(Rank), Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
        Kokkos::IndexType<int>>;
    if constexpr (Rank == 2)
      return Policy(instance, {0, 0}, {Right ? e[1] : e[0], Right ? e[0] : e[1]}, {64, 4});
    else
      return Policy(instance, {0, 0, 0}, {Right ? e[2] : e[0], e[1], Right ? e[0] : e[2]},
                    {64, 2, 2});
  }

  template <class... Value>  // of a reduction
  KOKKOS_FUNCTION void operator()(int a, Value&... value) const requires(Rank == 1) {
    at(a, 0, 0, value...);
  }
  template <class... Value>
  KOKKOS_FUNCTION void operator()(int a, int b, Value&... value) const requires(Rank == 2) {
    at(a, b, 0, value...);
  }
  template <class... Value>
  KOKKOS_FUNCTION void operator()(int a, int b, int c, Value&... value) const requires(Rank == 3) {
    at(a, b, c, value...);
  }
};

/// A kernel that reduces by init and join of the user's reducer. Its part of the result does not go
/// to the reducer's result.
template <class Kernel, class Reducer>
struct ReducingKernel : Kernel {
  using value_type = typename Reducer::value_type;
  Reducer reducer;

  KOKKOS_FUNCTION void init(value_type& value) const { init_value(reducer, value); }
  KOKKOS_FUNCTION void join(value_type& into, value_type const& part) const {
    reducer.join(into, part);
  }
};

/// Enqueues call(i, j, k) for all indices of a box. \tparam Right true for LayoutRight
template <int Rank, bool Right, class ExecutionSpace, class Call>
void launch_for(std::string const& label, ExecutionSpace const& instance, LaunchBox const& box,
                Call const& call) {
  BoxKernel<Rank, Right, Call> const kernel{call, box};
  // A RangePolicy takes 4 % longer for a sum of 8 Mi elements in place (H200).
  if constexpr (Rank == 1)
    KokkosHostSpaces::parallel_for(label, instance, box.extent(0), kernel);
  else
    Kokkos::parallel_for(label, kernel.policy(instance), kernel);
}

/// Enqueues the reduction of call(i, j, k, value) over a box into `result`, a View of rank 0.
template <int Rank, bool Right, class ExecutionSpace, class Call, class Reducer, class Result>
void launch_reduce(std::string const& label, ExecutionSpace const& instance, LaunchBox const& box,
                   Call const& call, Reducer const& reducer, Result const& result) {
  using Kernel = BoxKernel<Rank, Right, Call>;
  ReducingKernel<Kernel, Reducer> const kernel{{call, box}, reducer};
  if constexpr (Rank == 1)
    KokkosHostSpaces::parallel_reduce(label, instance, box.extent(0), kernel, result);
  else
    Kokkos::parallel_reduce(label, kernel.policy(instance), kernel, result);
}

}  // namespace KokkosHostSpaces::Impl

#endif
