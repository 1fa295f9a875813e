// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A parallel_for over Views in host memory that may be larger than the memory of the device:
//
//   khs::streamed_for("triad", n,
//     KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> b, khs::Chunk<double const*> c,
//                   khs::Chunk<double*> a) { a(i) = b(i) + 3 * c(i); },
//     khs::read(b), khs::read(c), khs::write(a));

#ifndef KOKKOS_HOST_SPACES_STREAMED_FOR_HPP
#define KOKKOS_HOST_SPACES_STREAMED_FOR_HPP

#include <KokkosHostSpaces/StreamedArguments.hpp>
#include <KokkosHostSpaces/StreamedOptions.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedRun.hpp>

#include <string>

namespace KokkosHostSpaces {

/// Order of the arguments of all streamed loops: label, instance or options (may be left out), range,
/// body, for a reduction its result, arguments. The range is a number of iterations or a Box.
///
/// Calls `body` for every index of the range, with a chunk of each argument: body(i, chunks...), for a
/// Box<2> body(i, j, chunks...), for a Box<3> body(i, j, k, chunks...). The indices are global ones
/// of 64 bits; a body may take them as smaller integers, if these can hold the range. With one index,
/// references to elements may be taken instead of chunks: body(i, double const& b, double& a).
///
/// The Views are in host memory: PinnedSpace, MappedSpace, WriteCombinedSpace, CudaHostPinnedSpace,
/// or HostSpace, which is slower unless registered, and for which the call may wait for copies.
/// Their elements are contiguous and trivially copyable, and they agree in the extents that the range
/// has. They are cut along the slowest index: the first of LayoutRight, the last of LayoutLeft. Views
/// may have more dimensions than the range.
///
/// Staged copies to the device the rows of the range and of the halos of a View that is read, and the
/// rows of the range of a View that is updated, or that is written in a part of its rows. It copies to
/// the host the rows of the range of a View that is written or updated. Each row is copied once, also
/// of a View that is read twice. A View may be read, also with a halo, and written: reads find the
/// values from before the loop. ZeroCopy refuses that; an update works in place.
///
/// Asynchronous: ordered behind the earlier work of `options.instances` and before their later work,
/// and of no other instance. Enqueueing waits when CUDA's queues are full: after about 250 chunks of a
/// loop. Views of this library's spaces may be destroyed as soon as the call has returned; others when
/// the loop is done. On the host, the loop is done on return.
///
/// \tparam Way Staged, ZeroCopy, or Automatic, which takes the transport of the options
/// \throw Error, before anything runs, if the body's integers cannot hold the range, if the arguments do
/// not fit the range or each other, cannot be reached, or one chunk does not fit the memory that may be
/// used
template <class Way = Automatic, Impl::InstanceOrOptions Where, class Range, class Body,
          class... Arguments>
StreamedLoop streamed_for(std::string const& label, Where const& where, Range const& range,
                          Body const& body, Arguments const&... arguments) {
  return Impl::run_streamed_for(label, Impl::complete<Way>(where), Impl::box_of(range), body,
                                arguments...);
}

/// The same, on the default instance.
template <class Way = Automatic, Impl::NoOptions Range, class Body, class... Arguments>
StreamedLoop streamed_for(std::string const& label, Range const& range, Body const& body,
                          Arguments const&... arguments) {
  return streamed_for<Way>(label, StreamOptions<>(), range, body, arguments...);
}

/// The same, with options in braces: `{.chunk_rows = 100}`.
template <class Way = Automatic, Impl::StreamedRange Range, class Body, class... Arguments>
StreamedLoop streamed_for(std::string const& label, StreamOptions<> const& options,
                          Range const& range, Body const& body, Arguments const&... arguments) {
  return streamed_for<Way, StreamOptions<>>(label, options, range, body, arguments...);
}

/// \cond
template <class Way = Automatic, Impl::NoLabel First, class... Others>
StreamedLoop streamed_for(First const&, Others const&...) {
  static_assert(Impl::StreamedOrder<Impl::never_v<First>, First, Others...>::value);
  return {};
}
/// \endcond

}  // namespace KokkosHostSpaces

#endif
