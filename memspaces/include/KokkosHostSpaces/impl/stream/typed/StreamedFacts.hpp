// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// From the arguments and ranges of a streamed loop to what the compiled part needs to know of them.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMED_FACTS_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMED_FACTS_HPP

#include <KokkosHostSpaces/StreamedArguments.hpp>
#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamJob.hpp>

#include <array>
#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces::Impl {

template <class T>
inline constexpr bool is_box_v = false;
template <int Rank>
inline constexpr bool is_box_v<Box<Rank>> = true;

template <class T>
concept StreamedRange = std::integral<T> || is_box_v<T>;

inline Box<1> box_of(std::integral auto n) {
  return Box<1>(std::array<std::int64_t, 1>{as_index(n)});
}
template <int Rank>
Box<Rank> box_of(Box<Rank> const& box) {
  return box;
}

/// The transport of the type, if it says one.
template <class Way, class ExecutionSpace>
StreamOptions<ExecutionSpace> with_way(StreamOptions<ExecutionSpace> options) {
  if (Way::transport != Transport::automatic) options.transport = Way::transport;
  return options;
}

template <class Space>
constexpr Side side_of() {
#ifdef KOKKOS_ENABLE_CUDA
  if (is_page_locked_v<Space>) return Side::page_locked;
  if (is_used_by_cuda_v<Space>) return Side::device;
#else
  if (is_host_space_v<Space>) return Side::page_locked;
#endif
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible ? Side::pageable
                                                                          : Side::device;
}

template <class DataType, class... P, Access How>
ArgumentFacts facts_of(StreamedArgument<Kokkos::View<DataType, P...>, How> const& argument) {
  using View   = Kokkos::View<DataType, P...>;
  using Layout = typename View::array_layout;
  static_assert(
      std::is_same_v<Layout, Kokkos::LayoutRight> || std::is_same_v<Layout, Kokkos::LayoutLeft>,
      "streamed loops take Views that are LayoutRight or LayoutLeft");
  ArgumentFacts facts;
  View const& view = argument.view;
  facts.label      = view.label();
  facts.space      = View::memory_space::name();
  facts.side       = side_of<typename View::memory_space>();
  facts.data =
      reinterpret_cast<char*>(const_cast<typename View::non_const_value_type*>(view.data()));
  facts.element_bytes = sizeof(typename View::value_type);
  facts.rank          = int(View::rank());
  for (int d = 0; d < facts.rank && d < 3; ++d)
    facts.extents[d] = static_cast<std::int64_t>(view.extent(std::size_t(d)));
  facts.layout_right = std::is_same_v<Layout, Kokkos::LayoutRight>;
  facts.contiguous   = view.span_is_contiguous();
  facts.access       = How;
  facts.halo         = argument.halo;
  facts.touched      = argument.touched;
  if (facts.side == Side::pageable && is_reachable(facts.data, view.span() * facts.element_bytes))
    facts.side = Side::page_locked;
  return facts;
}

template <class DataType, class Layout, Access How>
ArgumentFacts facts_of(StreamedArgument<Intermediate<DataType, Layout>, How> const& argument) {
  using Array = Intermediate<DataType, Layout>;
  using Plain = PlainViewOf<DataType>;
  ArgumentFacts facts;
  facts.label         = argument.view.label();
  facts.space         = "no memory space";
  facts.intermediate  = argument.view.identity();
  facts.side          = Side::page_locked;
  facts.element_bytes = sizeof(typename Array::value_type);
  facts.rank          = Array::rank();
  for (int d = 0; d < facts.rank; ++d)
    facts.extents[d] = static_cast<std::int64_t>(Plain::static_extent(std::size_t(d)));
  facts.layout_right = std::is_same_v<Layout, Kokkos::LayoutRight>;
  facts.access       = How;
  facts.halo         = argument.halo;
  return facts;
}

template <class View>
ArgumentFacts facts_of(StreamedArgument<Resident<View>, Access::read> const& argument) {
  ArgumentFacts facts = facts_of(StreamedArgument<View, Access::read>{argument.view.host()});
  facts.fixed         = true;
  return facts;
}

/// The chunk that the body gets of an argument.
template <class Argument>
using ChunkOfArgument =
    std::conditional_t<Argument::access == Access::read, const_chunk_of<typename Argument::View>,
                       chunk_of<typename Argument::View>>;

template <class ExecutionSpace, class Argument>
ChunkOfArgument<Argument> chunk_at(ExecutionSpace const&, Argument const&, char* first_row,
                                   StreamBinding::Strides const& strides) {
  using ChunkView = ChunkOfArgument<Argument>;
  return ChunkView(reinterpret_cast<typename ChunkView::value_type*>(first_row), strides.of);
}

template <class ExecutionSpace, class View>
const_chunk_of<View> chunk_at([[maybe_unused]] ExecutionSpace const& instance,
                              StreamedArgument<Resident<View>, Access::read> const& argument, char*,
                              StreamBinding::Strides const& strides) {
  using Value      = typename const_chunk_of<View>::value_type;
  View const& host = argument.view.host();
  Value* data      = host.data();
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
    data = static_cast<Value*>(argument.view.copies().on_device(
        instance.cuda_device(), instance.cuda_stream(), host.data(), host.span() * sizeof(Value)));
#endif
  return const_chunk_of<View>(data, strides.of);
}

template <class Argument>
inline constexpr bool is_resident_v = false;
template <class View>
inline constexpr bool is_resident_v<StreamedArgument<Resident<View>, Access::read>> = true;

template <class T>
inline constexpr bool is_argument_v = false;
template <class View, Access How>
inline constexpr bool is_argument_v<StreamedArgument<View, How>> = true;

/// Says what the user forgot, before the compiler says what follows from it.
template <class... Arguments>
struct AreArguments : std::true_type {
  static_assert((is_argument_v<Arguments> && ...),
                "arguments are made by khs::read, khs::write or khs::update");
};

// Views of other memory often have no label.
template <class... Arguments>
std::vector<ArgumentFacts> all_facts_of(std::tuple<Arguments...> const& arguments) {
  auto facts =
      std::apply([](auto const&... each) { return std::vector{facts_of(each)...}; }, arguments);
  for (std::size_t a = 0; a < facts.size(); ++a)
    if (facts[a].label.empty()) facts[a].label = "argument " + std::to_string(a + 1);
  return facts;
}

/// A range and arguments as the compiled part needs them.
template <int Rank, class... Arguments>
LoopFacts loop_facts(Box<Rank> const& box, std::tuple<Arguments...> const& arguments) {
  LoopFacts loop;
  loop.rank = Rank;
  for (int d = 0; d < Rank; ++d) {
    loop.lower[d] = box.lower[d];
    loop.upper[d] = box.upper[d];
  }
  if constexpr (sizeof...(Arguments) > 0) loop.arguments = all_facts_of(arguments);
  return loop;
}

}  // namespace KokkosHostSpaces::Impl

#endif
