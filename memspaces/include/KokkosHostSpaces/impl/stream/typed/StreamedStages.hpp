// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed chains: their stages, and how each is launched.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMED_STAGES_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMED_STAGES_HPP

#include <KokkosHostSpaces/impl/stream/typed/StreamedRun.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

struct NoBox {};

/// A loop of a chain, by default over the range of the chain.
template <class Body, class OwnBox, class... Arguments>
struct Stage {
  static_assert(AreArguments<Arguments...>::value);
  Body body;
  OwnBox own_box;
  std::tuple<Arguments...> arguments;

  template <int Rank>
  Box<Rank> range(Box<Rank> const& of_chain) const {
    if constexpr (std::is_same_v<OwnBox, NoBox>)
      return of_chain;
    else
      return own_box;
  }
};

template <class Body, class... Arguments>
struct Steps {
  static_assert(AreArguments<Arguments...>::value);
  int count;
  Body body;
  std::tuple<Arguments...> arguments;

  // The index of the first argument with an access.
  static constexpr std::size_t position(Access access) {
    constexpr Access accesses[] = {Arguments::access...};
    constexpr bool resident[]   = {is_resident_v<Arguments>...};
    for (std::size_t a = 0; a < sizeof...(Arguments); ++a)
      if (accesses[a] == access && !resident[a]) return a;
    return sizeof...(Arguments);
  }
  static constexpr std::size_t source = position(Access::read), result = position(Access::write);
  static_assert(
      source < sizeof...(Arguments) && result < sizeof...(Arguments),
      "steps have a khs::read, the first of which is where a step starts, and a khs::write");
  template <std::size_t A>
  using ViewOf = typename std::tuple_element_t<A, std::tuple<Arguments...>>::View;
  static_assert(std::is_same_v<std::remove_const_t<typename ViewOf<source>::value_type>,
                               typename ViewOf<result>::value_type> &&
                    ViewOf<source>::rank() == ViewOf<result>::rank(),
                "steps read and write Views of the same elements and dimensions: what one step "
                "writes, the next one reads");
  static_assert(((Arguments::access != Access::read ? 1 : 0) + ...) == 1,
                "steps write one argument");
};

struct MakeStage {
  template <class Body, class... Arguments>
  auto operator()(Body const& body, Arguments const&... arguments) const {
    return Stage<Body, NoBox, Arguments...>{body, {}, {arguments...}};
  }
  template <StreamedRange Range, class Body, class... Arguments>
  auto operator()(Range const& range, Body const& body, Arguments const&... arguments) const {
    auto const box = box_of(range);
    return Stage<Body, std::remove_const_t<decltype(box)>, Arguments...>{body, box, {arguments...}};
  }
};

struct MakeSteps {
  template <class Body, class... Arguments>
  auto operator()(int count, Body const& body, Arguments const&... arguments) const {
    return Steps<Body, Arguments...>{count, body, {arguments...}};
  }
};

template <class T>
inline constexpr bool is_stage_v = false;
template <class... P>
inline constexpr bool is_stage_v<Stage<P...>> = true;
template <class... P>
inline constexpr bool is_stage_v<Steps<P...>> = true;

/// The loops of a chain without types, and functions that launch them.
template <class ExecutionSpace>
struct ChainParts {
  using Launch = std::function<void(StreamBinding const&, ExecutionSpace const&,
                                    std::string const& label, StreamLaunch const&)>;
  std::string label;
  std::vector<LoopFacts> loops = {};
  std::vector<Launch> launches = {};
};

template <class ExecutionSpace, int Rank, class Body, class OwnBox, class... Arguments>
void add_loops(ChainParts<ExecutionSpace>& parts, Box<Rank> const& of_chain,
               Stage<Body, OwnBox, Arguments...> const& stage) {
  Box<Rank> const range = stage.range(of_chain);
  check_indices<Body>(parts.label, range);
  parts.loops.push_back(loop_facts(range, stage.arguments));
  parts.launches.push_back([range, body = stage.body, all = stage.arguments](
                               StreamBinding const& binding, ExecutionSpace const& instance,
                               std::string const& label, StreamLaunch const& launch) {
    auto const call = body_call<Rank>(instance, body, binding, launch, all);
    call.check();
    launch_for<Rank, is_layout_right<Arguments...>>(label, instance,
                                                    launch_box(range, binding, launch), call);
  });
}

// Launches a step over all elements; the body is called inside of the range.
template <int Rank, class Steps, class... Arguments, class ExecutionSpace, class Body>
void launch_step(Box<Rank> const& range, StreamBinding const& binding,
                 ExecutionSpace const& instance, std::string const& label,
                 StreamLaunch const& launch, Body const& body,
                 std::tuple<Arguments...> const& all) {
  auto const call = body_call<Rank>(instance, body, binding, launch, all);
  call.check();
  using Source        = std::tuple_element_t<Steps::source, std::tuple<Arguments...>>;
  using Result        = std::tuple_element_t<Steps::result, std::tuple<Arguments...>>;
  auto const& strides = binding.strides[std::size_t(launch.stage)];
  auto const source   = chunk_at(instance, std::get<Steps::source>(all),
                                 launch.first_rows[Steps::source], strides[Steps::source]);
  auto const result   = chunk_at(instance, std::get<Steps::result>(all),
                                 launch.first_rows[Steps::result], strides[Steps::result]);
  LaunchBox inside, box;
  for (int d = 0; d < Rank; ++d) {
    inside.lower[d] = range.lower[d];
    inside.upper[d] = range.upper[d];
    box.upper[d]    = binding.extents[d];
  }
  box.lower[binding.cut] = launch.begin;
  box.upper[binding.cut] = launch.end;
  using Call             = StepCall<Rank, std::decay_t<decltype(call)>, ChunkOfArgument<Source>,
                        ChunkOfArgument<Result>>;
  launch_for<Rank, is_layout_right<Arguments...>>(label, instance, box,
                                                  Call{call, source, result, inside});
}

template <class ExecutionSpace, int Rank, class Body, class... Arguments>
void add_loops(ChainParts<ExecutionSpace>& parts, Box<Rank> const& range,
               Steps<Body, Arguments...> const& steps) {
  using TheSteps = Steps<Body, Arguments...>;
  static_assert(TheSteps::template ViewOf<TheSteps::source>::rank() == Rank,
                "steps go over Views with as many dimensions as the range");
  if (steps.count < 1)
    throw Error(parts.label + ": " + std::to_string(steps.count) +
                " steps (nothing would be written): take one or more");
  check_indices<Body>(parts.label, range);
  LoopFacts const facts       = loop_facts(range, steps.arguments);
  ArgumentFacts const& source = facts.arguments[TheSteps::source];
  ArgumentFacts const& result = facts.arguments[TheSteps::result];
  auto const between          = std::make_shared<std::vector<char>>(std::size_t(steps.count));
  for (int q = 0; q < steps.count; ++q) {
    LoopFacts loop          = facts;
    loop.covers_all         = true;
    auto const intermediate = [&](ArgumentFacts& of, int step, std::int64_t halo, Access access) {
      of              = result;
      of.label        = source.label + " after " + std::to_string(step) + " steps";
      of.data         = nullptr;
      of.intermediate = &(*between)[std::size_t(step)];
      of.side         = Side::page_locked;
      of.halo         = halo;
      of.access       = access;
    };
    if (q > 0) intermediate(loop.arguments[TheSteps::source], q, source.halo, Access::read);
    if (q + 1 < steps.count)
      intermediate(loop.arguments[TheSteps::result], q + 1, 0, Access::write);
    parts.loops.push_back(loop);
    parts.launches.push_back([range, between, body = steps.body, all = steps.arguments](
                                 StreamBinding const& binding, ExecutionSpace const& instance,
                                 std::string const& label, StreamLaunch const& launch) {
      launch_step<Rank, TheSteps>(range, binding, instance, label, launch, body, all);
    });
  }
}

template <class ExecutionSpace, int Rank, class... Stages>
StreamedLoop run_streamed_chain(std::string const& label,
                                StreamOptions<ExecutionSpace> const& options,
                                Box<Rank> const& range, Stages const&... stages) {
  static_assert(sizeof...(Stages) > 0 && (is_stage_v<Stages> && ...),
                "a chain has stages behind its range: pass khs::stage or khs::steps");
  ChainParts<ExecutionSpace> parts{"streamed_chain \"" + label + "\""};
  (add_loops(parts, range, stages), ...);
  StreamSetting<ExecutionSpace> setting("streamed_chain", label, options, parts.loops);
  setting.job.launch = [&](std::size_t target, StreamLaunch const& launch) {
    parts.launches[std::size_t(launch.stage)](setting.job.binding, setting.instance(target), label,
                                              launch);
  };
  return setting.run();
}

}  // namespace KokkosHostSpaces::Impl

#endif
