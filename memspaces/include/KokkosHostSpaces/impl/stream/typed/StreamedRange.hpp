// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The range of a streamed loop: a number, a Box, or a policy of Kokkos; and the options that a policy gives.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMED_RANGE_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMED_RANGE_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/StreamedArguments.hpp>
#include <KokkosHostSpaces/StreamedOptions.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace KokkosHostSpaces::Impl {

template <class T>
inline constexpr bool is_box_v = false;
template <int Rank>
inline constexpr bool is_box_v<Box<Rank>> = true;

template <class T>
inline constexpr bool is_range_policy_v = false;
template <class... P>
inline constexpr bool is_range_policy_v<Kokkos::RangePolicy<P...>> = true;
template <class... P>
inline constexpr bool is_range_policy_v<Kokkos::MDRangePolicy<P...>> = true;

template <class T>
concept KokkosRange = is_range_policy_v<T>;

template <class T>
concept StreamedRange = std::integral<T> || is_box_v<T> || KokkosRange<T>;

template <class T>
inline constexpr bool is_options_v = false;
template <class ExecutionSpace>
inline constexpr bool is_options_v<StreamOptions<ExecutionSpace>> = true;

/// What may stand behind a label, before the range.
template <class T>
concept InstanceOrOptions = ExecutionSpace<T> || is_options_v<T>;

/// What may stand behind a label as the range of a loop; box_of refuses it if it is none.
template <class T>
concept NoOptions = !InstanceOrOptions<T> && !std::convertible_to<T, StreamOptions<>>;

/// Reports arguments in another order before other errors follow from it, for each call of other types.
template <bool IsRight, class... What>
struct StreamedOrder : std::true_type {
  static_assert(
      IsRight,
      "streamed loops take, in this order: a label, an instance or options (may be left out), "
      "the range, the body, for a reduction its result, and the arguments");
};

template <class T>
requires(!StreamedRange<T>) Box<1> box_of(T const&) {
  static_assert(StreamedOrder<never_v<T>, T>::value);
  return Box<1>(std::array<std::int64_t, 1>{});
}

/// \throw Error for a number below zero: more than an int can count
inline Box<1> box_of(std::integral auto n) {
  if (as_index(n) < 0)
    throw Error("a streamed loop has " + std::to_string(n) +
                " iterations (less than none): count more than 2147483647 in 64 bits");
  return Box<1>(std::array<std::int64_t, 1>{as_index(n)});
}
template <int Rank>
Box<Rank> box_of(Box<Rank> const& box) {
  return box;
}

// The range of a policy; tiles and chunk sizes are not used. A bound beyond 2^31 may be a larger one
// that a 32-bit index has cut. \throw Error for it
template <KokkosRange Policy>
auto box_of(Policy const& policy) {
  auto const bound = [](auto index) {
    if (sizeof(typename Policy::index_type) < sizeof(std::int64_t) &&
        as_index(index) > std::numeric_limits<int>::max())
      throw Error(
          "a streamed loop goes to index " + std::to_string(index) +
          " (its policy counts in 32 bits): pass the number of iterations, a khs::Box, or a "
          "policy with Kokkos::IndexType<std::int64_t>");
    return as_index(index);
  };
  if constexpr (requires { policy.begin(); }) {
    return Box<1>({bound(policy.begin())}, {bound(policy.end())});
  } else {
    Box<Policy::rank> box(std::array<std::int64_t, Policy::rank>{});
    for (int d = 0; d < Policy::rank; ++d) {
      box.lower[d] = bound(policy.m_lower[std::size_t(d)]);
      box.upper[d] = bound(policy.m_upper[std::size_t(d)]);
    }
    return box;
  }
}

// The options of a call without any.
template <class Range>
auto options_for(Range const&) {
  if constexpr (KokkosRange<Range>)
    return StreamOptions<typename Range::execution_space>{};
  else
    return StreamOptions<>{};
}

/// The options, with the transport of the type unless that is Automatic, and with the instance of a
/// policy unless they have instances.
template <class Way, class ExecutionSpace, class Range>
StreamOptions<ExecutionSpace> complete(StreamOptions<ExecutionSpace> options, Range const& range) {
  if (Way::transport != Transport::automatic) options.transport = Way::transport;
  if constexpr (requires { std::vector<ExecutionSpace>{range.space()}; })
    if (options.instances.empty()) options.instances = {range.space()};
  return options;
}
template <class Way, ExecutionSpace Instance, class Range>
StreamOptions<Instance> complete(Instance const& instance, Range const& range) {
  return complete<Way>(StreamOptions<Instance>{.instances = {instance}}, range);
}

}  // namespace KokkosHostSpaces::Impl

#endif
