// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The range of a streamed loop, a number or a Box, and its options.

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
concept StreamedRange = std::integral<T> || is_box_v<T>;

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

template <class T>
concept NoLabel = !std::convertible_to<T, std::string>;

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

/// The options, with the transport of the type unless that is Automatic.
template <class Way, class ExecutionSpace>
StreamOptions<ExecutionSpace> complete(StreamOptions<ExecutionSpace> options) {
  if (Way::transport != Transport::automatic) options.transport = Way::transport;
  return options;
}
template <class Way, ExecutionSpace Instance>
StreamOptions<Instance> complete(Instance const& instance) {
  return complete<Way>(StreamOptions<Instance>{.instances = {instance}});
}

}  // namespace KokkosHostSpaces::Impl

#endif
