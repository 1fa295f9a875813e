// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops and reductions: binds arguments to launches, and hands all to the compiled part.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMED_RUN_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMED_RUN_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedFacts.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedLaunch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// Copies bytes of the host to page-locked memory, in order with an instance.
template <class ExecutionSpace>
void save_bytes(ExecutionSpace const& instance, void* to, void const* from, std::size_t bytes) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
    if (is_reachable(from, bytes)) return enqueue_byte_copy(instance, to, from, bytes);
#endif
  instance.fence("KokkosHostSpaces: before rows of a streamed loop are saved");
  std::memcpy(to, from, bytes);
}

/// What is the same for all loops on an execution space.
template <class ExecutionSpace>
struct StreamSetting {
  std::string label;
  StreamOptions<ExecutionSpace> options;
  StreamJob job;

  StreamSetting(char const* what, std::string const& name,
                StreamOptions<ExecutionSpace> const& wishes, std::vector<LoopFacts> const& loops)
      : label(std::string(what) + " \"" + name + "\""), options(wishes) {
    if (options.instances.empty()) options.instances.push_back(ExecutionSpace());
    job.label             = label;
    job.binding           = bind_stream(label, loops);
    job.transport         = options.transport;
    job.wishes.chunk_rows = options.chunk_rows;
    job.wishes.slots      = options.slots;
    job.wishes.most_rows  = job.binding.launch_rows;
    job.wishes.memory     = options.device_memory > 0 ? options.device_memory : memory_of_a_loop();
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>)
      for (auto const& instance : options.instances)
        job.targets.push_back({instance.cuda_device(), instance.cuda_stream()});
#endif
    job.rates = [targets = job.targets](std::size_t t) { return link_rates(targets[t].device); };
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

  StreamedLoop run() { return StreamedLoop(run_stream(job, stream_lanes())); }

  ExecutionSpace const& instance(std::size_t target) const { return options.instances[target]; }
};

// The box of a launch: that of the loop, with the rows of the chunk.
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
      body, {chunk_at(instance, std::get<I>(arguments), launch.first_rows[I], strides[I])...}};
}

/// The body with the chunks of a launch.
template <int Rank, class ExecutionSpace, class Body, class... Arguments>
auto body_call(ExecutionSpace const& instance, Body const& body, StreamBinding const& binding,
               StreamLaunch const& launch, std::tuple<Arguments...> const& arguments) {
  return body_call<Rank>(instance, body, binding, launch, arguments,
                         std::index_sequence_for<Arguments...>());
}

// Of the arguments that have one; that all have the same was checked.
template <class... Arguments>
inline constexpr bool is_layout_right =
    ((is_resident_v<Arguments> || Arguments::View::rank() == 1 ||
      std::is_same_v<typename Arguments::View::array_layout, Kokkos::LayoutRight>)&&...);

template <class ExecutionSpace, int Rank, class Body, class... Arguments>
StreamedLoop run_streamed_for(std::string const& label,
                              StreamOptions<ExecutionSpace> const& options, Box<Rank> const& range,
                              Body const& body, Arguments const&... arguments) {
  static_assert(AreArguments<Arguments...>::value);
  auto const all = std::make_tuple(arguments...);
  StreamSetting<ExecutionSpace> setting("streamed_for", label, options, {loop_facts(range, all)});
  setting.job.launch = [&](std::size_t target, StreamLaunch const& launch) {
    auto const call =
        body_call<Rank>(setting.instance(target), body, setting.job.binding, launch, all);
    call.check();
    LaunchBox const box = launch_box(range, setting.job.binding, launch);
    launch_for<Rank, is_layout_right<Arguments...>>(label, setting.instance(target), box, call);
  };
  return setting.run();
}

template <class Reducer>
bool references_variable(Reducer const& reducer) {
  if constexpr (requires { reducer.references_scalar(); })
    return reducer.references_scalar();
  else
    return true;
}

// Joins the parts of the chunks in their order, in the user's result.
template <class Parts, class Reducer>
void join_parts(Parts const& parts, Reducer const& reducer) {
  typename Reducer::value_type result;
  reducer.init(result);
  for (std::size_t c = 0; c < parts.extent(0); ++c) reducer.join(result, parts(c));
  reducer.reference() = result;
}

template <class ExecutionSpace, int Rank, class Body, class Reducer, class... Arguments>
StreamedLoop run_streamed_reduce(std::string const& label,
                                 StreamOptions<ExecutionSpace> const& options,
                                 Box<Rank> const& range, Body const& body, Reducer const& reducer,
                                 Arguments const&... arguments) {
  static_assert(
      Kokkos::is_reducer_v<Reducer>,
      "a streamed_reduce takes a reducer behind the body, such as Kokkos::Sum<double>(sum)");
  static_assert(AreArguments<Arguments...>::value);
  using Value = typename Reducer::value_type;
  using Parts = Kokkos::View<Value*, MappedSpace>;
  using Part  = Kokkos::View<Value, MappedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static_assert(
      Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                 typename Reducer::result_view_type::memory_space>::accessible,
      "the result of a streamed_reduce is in memory that the host can access");
  auto const all = std::make_tuple(arguments...);
  StreamSetting<ExecutionSpace> setting("streamed_reduce", label, options,
                                        {loop_facts(range, all)});
  auto const parts    = std::make_shared<Parts>();
  setting.job.prepare = [parts](std::int64_t chunks) {
    *parts = Parts(Kokkos::view_alloc(Kokkos::WithoutInitializing, "parts of a streamed_reduce"),
                   std::size_t(chunks));
  };
  setting.job.finish = [parts, reducer] { join_parts(*parts, reducer); };
  setting.job.launch = [&](std::size_t target, StreamLaunch const& launch) {
    auto const call =
        body_call<Rank>(setting.instance(target), body, setting.job.binding, launch, all);
    call.template check<Value&>();
    LaunchBox const box = launch_box(range, setting.job.binding, launch);
    launch_reduce<Rank, is_layout_right<Arguments...>>(label, setting.instance(target), box, call,
                                                       reducer, Part(parts->data() + launch.chunk));
  };
  StreamedLoop const loop = setting.run();
  if (references_variable(reducer)) loop.fence();
  return loop;
}

}  // namespace KokkosHostSpaces::Impl

#endif
