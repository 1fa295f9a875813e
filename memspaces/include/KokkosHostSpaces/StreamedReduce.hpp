// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A parallel_reduce over Views in host memory that may be larger than the memory of the device:
//
//   double dot = 0;
//   khs::streamed_reduce("dot", n,
//     KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> x, khs::Chunk<double const*> y, double& s) {
//       s += x(i) * y(i); },
//     Kokkos::Sum<double>(dot), khs::read(x), khs::read(y));

#ifndef KOKKOS_HOST_SPACES_STREAMED_REDUCE_HPP
#define KOKKOS_HOST_SPACES_STREAMED_REDUCE_HPP

#include <KokkosHostSpaces/StreamedArguments.hpp>
#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedRun.hpp>

#include <string>

namespace KokkosHostSpaces {

/// As streamed_for, with a reduction. The body takes, after the chunks, a reference to the value of the
/// reduction; it may also write arguments.
///
/// A result in page-locked memory is there when the loop is done: fence its handle or its instance. For a
/// variable, or a View in other memory, the call waits, as parallel_reduce does.
///
/// The results of the chunks are joined in the order of the chunks. So the result is the same, bit for bit,
/// in every run with the same chunks on the same kind of device; if `chunk_rows` is given, also for every
/// transport and any number of devices. Without it ZeroCopy has larger chunks than Staged, and devices
/// share the rows by their measured rates.
///
/// \param label, where, range, body, arguments as those of streamed_for
/// \param reducer a reducer of Kokkos or of the application; or, for a sum, the variable or the View of
///        rank 0 that gets it. The result is in host memory
/// \throw Error as streamed_for does
template <class Way = Automatic, Impl::InstanceOrOptions Where, class Range, class Body,
          class Reducer, class... Arguments>
StreamedLoop streamed_reduce(std::string const& label, Where const& where, Range const& range,
                             Body const& body, Reducer&& reducer, Arguments const&... arguments) {
  return Impl::run_streamed_reduce(label, Impl::complete<Way>(where), Impl::box_of(range), body,
                                   reducer, arguments...);
}

/// The same, on the default instance.
template <class Way = Automatic, Impl::NoOptions Range, class Body, class Reducer,
          class... Arguments>
StreamedLoop streamed_reduce(std::string const& label, Range const& range, Body const& body,
                             Reducer&& reducer, Arguments const&... arguments) {
  return streamed_reduce<Way>(label, StreamOptions<>(), range, body, reducer, arguments...);
}

/// The same, with options in braces: `{.chunk_rows = 100}`.
template <class Way = Automatic, Impl::StreamedRange Range, class Body, class Reducer,
          class... Arguments>
StreamedLoop streamed_reduce(std::string const& label, StreamOptions<> const& options,
                             Range const& range, Body const& body, Reducer&& reducer,
                             Arguments const&... arguments) {
  return streamed_reduce<Way, StreamOptions<>>(label, options, range, body, reducer, arguments...);
}

/// \cond
template <class Way = Automatic, Impl::NoLabel First, class... Others>
StreamedLoop streamed_reduce(First const&, Others const&...) {
  static_assert(Impl::StreamedOrder<Impl::never_v<First>, First, Others...>::value);
  return {};
}
/// \endcond

}  // namespace KokkosHostSpaces

#endif
