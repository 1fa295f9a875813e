// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops and reductions: converts a typed call to a StreamJob without types, and launches
// its kernels with the chunks of the arguments.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMED_RUN_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMED_RUN_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/StreamedArguments.hpp>
#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedLaunch.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedRange.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

// --- arguments, without their types ---

template <class Space>
constexpr Side side_of() {
  if (is_page_locked_v<Space>) return Side::page_locked;
  if (is_used_by_device_v<Space>) return Side::device;
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible ? Side::pageable
                                                                          : Side::device;
}

/// Each byte of a T is a part of its value, which a PretendedDevice can compare.
template <class T>
inline constexpr bool has_no_padding =
    std::has_unique_object_representations_v<T> || std::is_same_v<T, float> ||
    std::is_same_v<T, double> || std::is_same_v<T, Kokkos::complex<float>> ||
    std::is_same_v<T, Kokkos::complex<double>>;

template <class DataType, class... P, Access How>
ArgumentFacts facts_of(StreamedArgument<Kokkos::View<DataType, P...>, How> const& argument) {
  using View   = Kokkos::View<DataType, P...>;
  using Layout = typename View::array_layout;
  static_assert(std::is_same_v<Layout, Kokkos::LayoutRight> ||
                    std::is_same_v<Layout, Kokkos::LayoutLeft> ||
                    std::is_same_v<Layout, Kokkos::LayoutStride>,
                "streamed loops take Views that are LayoutRight, LayoutLeft, or LayoutStride with "
                "the strides of LayoutRight");
  check_plain<View>();
  static_assert(std::is_trivially_copyable_v<typename View::value_type>,
                "streamed loops copy elements as bytes: their type must be trivially copyable");
  ArgumentFacts facts;
  View const& view = argument.view;
  facts.label      = view.label();
  facts.space      = View::memory_space::name();
  facts.side       = side_of<typename View::memory_space>();
  facts.data =
      reinterpret_cast<char*>(const_cast<typename View::non_const_value_type*>(view.data()));
  facts.element_bytes = sizeof(typename View::value_type);
  facts.is_comparable = has_no_padding<typename View::non_const_value_type>;
  facts.rank          = int(View::rank());
  for (int d = 0; d < facts.rank && d < 3; ++d)
    facts.extents[d] = static_cast<std::int64_t>(view.extent(std::size_t(d)));
  facts.layout_right = std::is_same_v<LayoutOfChunks<View>, Kokkos::LayoutRight>;
  facts.contiguous   = view.span_is_contiguous();
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride>) {
    std::size_t stride = 1;
    for (std::size_t d = View::rank(); d-- > 0; stride *= view.extent(d))
      facts.contiguous &= view.extent(d) == 1 || view.stride(d) == stride;
  }
  facts.access  = How;
  facts.halo    = argument.halo;
  facts.touched = argument.touched;
  if (facts.side == Side::pageable && is_reachable(facts.data, view.span() * facts.element_bytes))
    facts.side = Side::page_locked;
  if (is_only_registered(facts.data)) facts.side = Side::pageable;
  return facts;
}

template <class DataType, class Layout, Access How>
ArgumentFacts facts_of(StreamedArgument<Intermediate<DataType, Layout>, How> const& argument) {
  using Array = Intermediate<DataType, Layout>;
  static_assert(std::is_trivially_copyable_v<typename Array::value_type>,
                "intermediate arrays lie in memory that is not initialised: the type of their "
                "elements must be trivially copyable");
  using HostView = HostViewOf<DataType>;
  ArgumentFacts facts;
  facts.label         = argument.view.label();
  facts.space         = "no memory space";
  facts.intermediate  = argument.view.identity();
  facts.side          = Side::page_locked;
  facts.element_bytes = sizeof(typename Array::value_type);
  facts.is_comparable = has_no_padding<typename Array::value_type>;
  facts.rank          = Array::rank();
  for (int d = 0; d < facts.rank; ++d)
    facts.extents[d] = static_cast<std::int64_t>(HostView::static_extent(std::size_t(d)));
  facts.layout_right = std::is_same_v<Layout, Kokkos::LayoutRight>;
  facts.access       = How;
  facts.halo         = argument.halo;
  return facts;
}

template <class View>
ArgumentFacts facts_of(StreamedArgument<Resident<View>, Access::read> const& argument) {
  ArgumentFacts facts = facts_of(StreamedArgument<View, Access::read>{argument.view.host()});
  facts.fixed         = true;
  if (pretends_device())
    facts.stale = argument.view.copies().are_stale(
        facts.data, argument.view.host().span() * facts.element_bytes);
  return facts;
}

/// The chunk of an argument with which the body is called.
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
  if constexpr (is_driven_v<ExecutionSpace>)
    data = static_cast<Value*>(argument.view.copies().on_device(
        device_id_of(instance), stream_of(instance), host.data(), host.span() * sizeof(Value)));
  else if constexpr (is_stock_v<ExecutionSpace>)
    if (is_pageable_v<typename View::memory_space> || is_only_registered(data))
      throw Error("the resident \"" + host.label() +
                  "\" is in HostSpace, or registered (kernels of this device do not reach that): "
                  "make it a View that PinnedSpace allocates");
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

/// Reports a forgotten khs::read, khs::write or khs::update before other errors follow from it.
template <class... Arguments>
struct AreArguments : std::true_type {
  static_assert((is_argument_v<Arguments> && ...),
                "arguments are made by khs::read, khs::write or khs::update");
};

template <class Body>
struct IsBody
    : StreamedOrder<!is_argument_v<Body> && !is_options_v<Body> && !ExecutionSpace<Body> &&
                        !std::is_arithmetic_v<Body> && !Kokkos::is_view_v<Body>,
                    Body> {};

template <class... Arguments>
std::vector<ArgumentFacts> all_facts_of(std::tuple<Arguments...> const& arguments) {
  auto facts =
      std::apply([](auto const&... each) { return std::vector{facts_of(each)...}; }, arguments);
  // For messages: Views of unmanaged memory often have no label.
  for (std::size_t a = 0; a < facts.size(); ++a)
    if (facts[a].label.empty()) facts[a].label = "argument " + std::to_string(a + 1);
  return facts;
}

/// A range and arguments, without their types.
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

// --- the job ---

/// Copies bytes of the host to page-locked memory, in order with an instance.
template <class ExecutionSpace>
void save_bytes(ExecutionSpace const& instance, void* to, void const* from, std::size_t bytes) {
  if constexpr (is_driven_v<ExecutionSpace>)
    if (is_reachable(from, bytes)) return enqueue_byte_copy(instance, to, from, bytes);
  instance.fence("KokkosHostSpaces: before rows of a streamed loop are saved");
  std::memcpy(to, from, bytes);
}

/// The part of a job that does not depend on the body.
template <class ExecutionSpace>
struct StreamSetting {
  std::string label;
  StreamOptions<ExecutionSpace> options;
  StreamJob job;

  StreamSetting(char const* what, std::string const& name,
                StreamOptions<ExecutionSpace> const& asked, std::vector<LoopFacts> const& loops)
      : label(name.empty() ? what : std::string(what) + " \"" + name + "\""), options(asked) {
    if (options.instances.empty()) options.instances.push_back(ExecutionSpace());
    job.label              = label;
    job.binding            = bind_stream(label, loops);
    job.transport          = options.transport;
    job.options.chunk_rows = options.chunk_rows;
    job.options.slots      = options.slots;
    job.options.most_rows  = job.binding.launch_rows;
    job.options.memory     = options.device_memory > 0 ? options.device_memory : memory_of_a_loop();
    job.pretends_device    = pretends_device() && runs_on_host<ExecutionSpace>;
    if constexpr (is_driven_v<ExecutionSpace>)
      for (auto const& instance : options.instances)
        job.targets.push_back({device_id_of(instance), stream_of(instance)});
    if constexpr (is_stock_v<ExecutionSpace>)
      job.wait = [instance = options.instances.front()] {
        instance.fence("KokkosHostSpaces: a streamed loop is done on return");
      };
    job.weights = [targets = job.targets] {
      std::vector<int> devices;
      for (StreamTarget const& target : targets) devices.push_back(target.device);
      return weights_by(link_rates(devices));
    };
    auto const saved = std::make_shared<std::vector<Kokkos::View<char*, MappedSpace>>>();
    job.save = [saved, instance = options.instances.front()](void const* from, std::size_t bytes) {
      saved->emplace_back(Kokkos::view_alloc(Kokkos::WithoutInitializing,
                                             "KokkosHostSpaces: halos of a streamed loop"),
                          bytes);
      save_bytes(instance, saved->back().data(), from, bytes);
      return saved->back().data();
    };
    auto const arrays = std::make_shared<std::map<int, Kokkos::View<char*, MappedSpace>>>();
    job.intermediate  = [arrays](int buffer, std::size_t bytes) {
      auto& array = (*arrays)[buffer];
      if (array.size() < bytes)
        array = Kokkos::View<char*, MappedSpace>(
            Kokkos::view_alloc(Kokkos::WithoutInitializing,
                                "KokkosHostSpaces: intermediate array of a streamed chain"),
            bytes);
      return array.data();
    };
  }

  StreamedLoop run() {
    // All kernels of a device that is not driven run on the first instance.
    if constexpr (is_stock_v<ExecutionSpace>)
      for (std::size_t other = 1; other < options.instances.size(); ++other)
        instance(other).fence(
            "KokkosHostSpaces: a streamed loop comes behind work of its instances");
    return StreamedLoop(run_stream(job, stream_resources()));
  }

  ExecutionSpace const& instance(std::size_t target) const { return options.instances[target]; }
};

// The box of the loop, cut to the rows of a launch.
template <int Rank>
LaunchBox launch_box(Box<Rank> const& range, StreamBinding const& binding,
                     StreamLaunch const& launch) {
  LaunchBox box;
  for (int d = 0; d < Rank; ++d) {
    box.lower[d] = range.lower[d];
    box.upper[d] = range.upper[d];
  }
  box.lower[binding.cut] = launch.begin;
  box.upper[binding.cut] = launch.end;
  return box;
}

template <int Rank, class ExecutionSpace, class Body, class... Arguments, std::size_t... I>
auto body_call(ExecutionSpace const& instance, Body const& body, StreamBinding const& binding,
               StreamLaunch const& launch, std::tuple<Arguments...> const& arguments,
               std::index_sequence<I...>) {
  auto const& strides = binding.strides[std::size_t(launch.stage)];
  return BodyCall<Rank, Body, ChunkOfArgument<Arguments>...>{
      body,
      pack_chunks(chunk_at(instance, std::get<I>(arguments), launch.first_rows[I], strides[I])...)};
}

/// The body with the chunks of a launch.
template <int Rank, class ExecutionSpace, class Body, class... Arguments>
auto body_call(ExecutionSpace const& instance, Body const& body, StreamBinding const& binding,
               StreamLaunch const& launch, std::tuple<Arguments...> const& arguments) {
  return body_call<Rank>(instance, body, binding, launch, arguments,
                         std::index_sequence_for<Arguments...>());
}

// The layout of the arguments of rank 2 and 3. bind_stream checks that all have the same.
template <class... Arguments>
inline constexpr bool is_layout_right =
    ((is_resident_v<Arguments> || Arguments::View::rank() == 1 ||
      std::is_same_v<LayoutOfChunks<typename Arguments::View>, Kokkos::LayoutRight>)&&...);

template <class ExecutionSpace, int Rank, class Body, class... Arguments>
StreamedLoop run_streamed_for(std::string const& label,
                              StreamOptions<ExecutionSpace> const& options, Box<Rank> const& range,
                              Body const& body, Arguments const&... arguments) {
  static_assert(IsBody<Body>::value);
  static_assert(AreArguments<Arguments...>::value);
  auto const all = std::make_tuple(arguments...);
  StreamSetting<ExecutionSpace> setting("streamed_for", label, options, {loop_facts(range, all)});
  check_indices<Body>(setting.label, range);
  setting.job.launch = [&](std::size_t target, StreamLaunch const& launch) {
    auto const call =
        body_call<Rank>(setting.instance(target), body, setting.job.binding, launch, all);
    call.check();
    LaunchBox const box = launch_box(range, setting.job.binding, launch);
    launch_for<Rank, is_layout_right<Arguments...>>(label, setting.instance(target), box, call);
  };
  return setting.run();
}

// Joins the parts of the chunks in the order of the chunks, in an element behind them, and assigns
// that to the result.
template <class Parts, class Reducer>
struct JoinParts {
  Parts parts;
  Reducer reducer;

  KOKKOS_FUNCTION void operator()(int) const {
    std::size_t const chunks            = parts.extent(0) - 1;
    typename Reducer::value_type& value = parts(chunks);
    init_value(reducer, value);
    for (std::size_t c = 0; c < chunks; ++c) reducer.join(value, parts(c));
    if constexpr (requires { reducer.final(value); }) reducer.final(value);
    *reducer.view().data() = value;
  }
};

template <class Reducer>
bool references_variable(Reducer const& reducer) {
  if constexpr (requires { reducer.references_scalar(); })
    return reducer.references_scalar();
  else
    return true;
}

/// The reducer of a call: Kokkos::Sum for a variable or a View.
template <class Reducer>
requires Kokkos::is_reducer_v<std::remove_cvref_t<Reducer>>
auto reducer_of(Reducer const& reducer) { return reducer; }
template <class Value>
requires(!Kokkos::is_reducer_v<Value> && !Kokkos::is_view_v<Value> && !std::is_const_v<Value>)  //
    auto reducer_of(Value& result) {
  return Kokkos::Sum<Value>(result);
}
template <class Value, class... P>
auto reducer_of(Kokkos::View<Value, P...> const& result) {
  using View = Kokkos::View<Value, P...>;
  static_assert(View::rank() == 0, "the result of a streamed_reduce is a View of rank 0");
  return Kokkos::Sum<typename View::value_type, typename View::memory_space>(result);
}

template <class ExecutionSpace, int Rank, class Body, class Result, class... Arguments>
StreamedLoop run_streamed_reduce(std::string const& label,
                                 StreamOptions<ExecutionSpace> const& options,
                                 Box<Rank> const& range, Body const& body, Result& result,
                                 Arguments const&... arguments) {
  static_assert(IsBody<Body>::value);
  static_assert(
      !is_argument_v<std::remove_const_t<Result>> && requires { reducer_of(result); },
      "a streamed_reduce takes, behind the body, a reducer such as "
      "Kokkos::Sum<double>(sum), or the variable or View of a sum");
  static_assert(AreArguments<Arguments...>::value);
  auto const reducer = reducer_of(result);
  using Reducer      = std::remove_const_t<decltype(reducer)>;
  using Value        = typename Reducer::value_type;
  static_assert(std::is_trivially_destructible_v<Value>,
                "parts of a streamed_reduce lie in memory that is not initialised: their type must "
                "be trivially destructible");
  using Parts = Kokkos::View<Value*, MappedSpace>;
  using Part  = Kokkos::View<Value, MappedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static_assert(
      Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                 typename Reducer::result_view_type::memory_space>::accessible,
      "the result of a streamed_reduce is in memory that the host can access");
  auto const all = std::make_tuple(arguments...);
  StreamSetting<ExecutionSpace> setting("streamed_reduce", label, options,
                                        {loop_facts(range, all)});
  check_indices<Body>(setting.label, range);
  Parts parts;
  setting.job.prepare = [&](std::int64_t chunks) {
    parts = Parts(Kokkos::view_alloc(Kokkos::WithoutInitializing, "parts of a streamed_reduce"),
                  std::size_t(chunks) + 1);
  };
  setting.job.launch = [&](std::size_t target, StreamLaunch const& launch) {
    auto const call =
        body_call<Rank>(setting.instance(target), body, setting.job.binding, launch, all);
    call.template check<Value&>();
    LaunchBox const box = launch_box(range, setting.job.binding, launch);
    launch_reduce<Rank, is_layout_right<Arguments...>>(label, setting.instance(target), box, call,
                                                       reducer, Part(parts.data() + launch.chunk));
  };
  if (has_no_padding<Value>)
    setting.job.part = [&](std::int64_t chunk) {
      return std::string(reinterpret_cast<char const*>(parts.data() + chunk), sizeof(Value));
    };
  bool const on_device = !runs_on_host<ExecutionSpace> && !references_variable(reducer) &&
                         is_reachable(reducer.view().data(), sizeof(Value));
  if (on_device)
    setting.job.finish = [&] {
      Kokkos::parallel_for(
          "KokkosHostSpaces: joins the parts of a streamed_reduce",
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>(setting.instance(0), 0, 1),
          JoinParts<Parts, Reducer>{parts, reducer});
    };
  StreamedLoop const loop = setting.run();
  if (!on_device) {
    loop.fence();
    JoinParts<Parts, Reducer>{parts, reducer}(0);
  }
  return loop;
}

}  // namespace KokkosHostSpaces::Impl

#endif
