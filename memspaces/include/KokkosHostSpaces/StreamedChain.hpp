// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Several loops over the same data in one pass, for the price of one transfer:
//
//   khs::streamed_chain("diffuse", khs::Box<3>({1, 1, 1}, {n0 - 1, n1 - 1, n2 - 1}),
//     khs::steps(8, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k,
//                                 khs::const_chunk_of<Cube> u, khs::chunk_of<Cube> v) { ... },
//                khs::read(u, khs::halo(1)), khs::write(v)));
//
//   khs::Intermediate<double*> t;  // never leaves the device
//   khs::streamed_chain("two loops", n,
//     khs::stage(first, khs::read(a), khs::write(t)),
//     khs::stage(second, khs::read(t, khs::halo(1)), khs::read(b), khs::write(c)));

#ifndef KOKKOS_HOST_SPACES_STREAMED_CHAIN_HPP
#define KOKKOS_HOST_SPACES_STREAMED_CHAIN_HPP

#include <KokkosHostSpaces/StreamedArguments.hpp>
#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedStages.hpp>

#include <string>
#include <tuple>

namespace KokkosHostSpaces {

/// A loop of a chain: its body, as that of a streamed_for, and its arguments. A View or an
/// Intermediate may be written by one stage; later stages that read it get what was written,
/// that stage and those before it what was there before the chain. Views that a stage writes are
/// what the chain gives back.
template <class Body, class... Arguments>
auto stage(Body const& body, Arguments const&... arguments) {
  return Impl::Stage<Body, Impl::NoBox, Arguments...>{body, {}, {arguments...}};
}

/// A loop of a chain with a range of its own.
template <int Rank, class Body, class... Arguments>
auto stage(Box<Rank> const& range, Body const& body, Arguments const&... arguments) {
  return Impl::Stage<Body, Box<Rank>, Arguments...>{body, range, {arguments...}};
}

/// `count` steps of a stencil. Its first `read` and its only `write` are what a step makes of what:
/// the first step reads the View that is read, each other one what the one before it wrote, and the
/// last one writes the View that is written, which may be the one that is read. What the range
/// leaves out has in the result the values that the View which is read has there. Other arguments
/// are read in each step.
template <class Body, class... Arguments>
auto steps(int count, Body const& body, Arguments const&... arguments) {
  return Impl::Steps<Body, Arguments...>{count, body, {arguments...}};
}

/// The stages one after the other, in one pass over the data; equal to one loop after the other, bit
/// for bit. Each row is copied once, whatever the halos: rows that the next chunk needs stay on
/// the device. As streamed_for in all else. ZeroCopy makes a pass for each stage, with the
/// intermediate arrays in host memory.
template <class Way = Automatic, class ExecutionSpace, class Range, class... Stages>
StreamedLoop streamed_chain(std::string const& label, StreamOptions<ExecutionSpace> const& options,
                            Range const& range, Stages const&... stages) {
  return Impl::run_streamed_chain(label, Impl::with_way<Way>(options), Impl::box_of(range),
                                  stages...);
}

/// As above, on an instance.
template <class Way = Automatic, Impl::ExecutionSpace ExecutionSpace, class Range, class... Stages>
StreamedLoop streamed_chain(std::string const& label, ExecutionSpace const& instance,
                            Range const& range, Stages const&... stages) {
  return streamed_chain<Way>(label, StreamOptions<ExecutionSpace>{.instances = {instance}}, range,
                             stages...);
}

/// As above, on the default instance.
template <class Way = Automatic, Impl::StreamedRange Range, class... Stages>
StreamedLoop streamed_chain(std::string const& label, Range const& range, Stages const&... stages) {
  return streamed_chain<Way>(label, StreamOptions<>{}, range, stages...);
}

}  // namespace KokkosHostSpaces

#endif
