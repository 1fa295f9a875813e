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

namespace KokkosHostSpaces {

/// `stage(body, arguments...)`, `stage(range, body, arguments...)`: a loop of a chain, over the range of
/// the chain or one of its own. Body and arguments are as those of a streamed_for. A View or an
/// Intermediate may be written by one stage only. Later stages read the new values; that stage and
/// earlier ones read the values from before the chain.
inline constexpr Impl::MakeStage stage{};

/// `steps(count, body, arguments...)`: `count` steps of a stencil. The first step reads the View of the
/// first `read`, each other step the result of the step before it. The last step writes the View of the
/// only `write`, which may be the View that is read. Elements outside of the range have the values of
/// the View that is read. Every step reads the other arguments.
inline constexpr Impl::MakeSteps steps{};

/// Runs the stages in one pass over the data. The results equal those of one loop after the other, bit
/// for bit. Copies each row once, whatever the halos: rows that the next chunk reads stay on the device.
/// ZeroCopy makes a pass for each stage, with the intermediate arrays in host memory. All else is as for
/// streamed_for.
template <class Way = Automatic, Impl::InstanceOrOptions Where, class Range, class... Stages>
StreamedLoop streamed_chain(std::string const& label, Where const& where, Range const& range,
                            Stages const&... stages) {
  return Impl::run_streamed_chain(label, Impl::complete<Way>(where), Impl::box_of(range),
                                  stages...);
}

/// The same, on the default instance.
template <class Way = Automatic, Impl::NoOptions Range, class... Stages>
StreamedLoop streamed_chain(std::string const& label, Range const& range, Stages const&... stages) {
  return streamed_chain<Way>(label, StreamOptions<>(), range, stages...);
}

/// The same, with options in braces: `{.chunk_rows = 100}`.
template <class Way = Automatic, Impl::StreamedRange Range, class... Stages>
StreamedLoop streamed_chain(std::string const& label, StreamOptions<> const& options,
                            Range const& range, Stages const&... stages) {
  return streamed_chain<Way, StreamOptions<>>(label, options, range, stages...);
}

/// \cond
template <class Way = Automatic, Impl::NoLabel First, class... Others>
StreamedLoop streamed_chain(First const&, Others const&...) {
  static_assert(Impl::StreamedOrder<Impl::never_v<First>, First, Others...>::value);
  return {};
}
/// \endcond

}  // namespace KokkosHostSpaces

#endif
