// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_DEEP_COPY_ALL_HPP
#define KOKKOS_HOST_SPACES_DEEP_COPY_ALL_HPP

#include <KokkosHostSpaces/Slice.hpp>
#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>

#include <initializer_list>
#include <span>

namespace KokkosHostSpaces {

/// One of several copies, whose Views may differ in type. Made by copy_of.
template <class Dst, class Src>
struct CopyOf {
  Dst dst;  ///< written
  Src src;  ///< read
};

/// \cond
namespace Impl {

struct MakeCopyOf {
  template <class DT, class... DP, class ST, class... SP>
  CopyOf<Kokkos::View<DT, DP...>, Kokkos::View<ST, SP...>> operator()(
      Kokkos::View<DT, DP...> const& dst, Kokkos::View<ST, SP...> const& src) const {
    return {dst, src};
  }
};

}  // namespace Impl
/// \endcond

/// The copy of `src` to `dst`, for deep_copy_all.
inline constexpr Impl::MakeCopyOf copy_of{};

/// Copies `srcs[i]` to `dsts[i]` for each i, as `Kokkos::deep_copy` with `instance` does, in any order
/// and by as few calls as possible. Meant for many small messages, such as an exchange of halos, where
/// a call for each would cost more than a microsecond. For copies that are repeated, use
/// prepare_deep_copy_all.
///
/// Merges contiguous copies (*pieces*) that are adjacent on both sides. Makes one 2-D copy of pieces
/// that all have equal lengths and distances. Otherwise copies many short pieces by kernels, of at most
/// 1024 parts of 8 KiB each, and few or long ones by one call of the driver (`cuMemcpyBatchAsync`, CUDA
/// 12.8), or while the stream captures by a call for each. Copies pairs that are not contiguous one by
/// one.
///
/// \param instance a Cuda instance: the copies are asynchronous on it, unless pageable memory takes
///        part; a host instance: they come after its work, and are done on return
/// \param dsts, srcs std::vector, std::array, lists in braces, ... of Views of one type each
/// \throw Error before anything is enqueued: numbers or shapes differ, or a copy writes what another
///        one reads or writes (checked among contiguous copies)
template <class ExecutionSpace, Impl::RangeOfViews Dsts, Impl::RangeOfViews Srcs>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, Dsts const& dsts, Srcs const& srcs) {
  Impl::copy_all(instance, Impl::PairsOfRanges<Dsts, Srcs>(dsts, srcs));
}

/// The same for lists in braces.
template <class ExecutionSpace, class Dst, class Src>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, std::initializer_list<Dst> dsts,
                   std::initializer_list<Src> srcs) {
  Impl::copy_all(
      instance,
      Impl::PairsOfRanges<std::initializer_list<Dst>, std::initializer_list<Src>>(dsts, srcs));
}

/// The same for a std::vector, std::array, ... of std::pair of a destination and a source.
template <class ExecutionSpace, Impl::RangeOfPairs Pairs>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, Pairs const& pairs) {
  Impl::copy_all(instance, Impl::PairsOfPairs<Pairs>(pairs));
}

/// The same for Views of several types: `deep_copy_all(instance, copy_of(a, b), copy_of(c, d))`.
template <class ExecutionSpace, class Dst, class Src, class... Dsts, class... Srcs>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, CopyOf<Dst, Src> const& first,
                   CopyOf<Dsts, Srcs> const&... others) {
  Impl::copy_all(instance,
                 Impl::PairsOfArguments<CopyOf<Dst, Src>, CopyOf<Dsts, Srcs>...>(first, others...));
}

/// The same for slices of two Views, such as rows that an index selects, the faces of a domain, or
/// particles that leave it.
///
///     std::vector<khs::Slice> slices;
///     for (std::size_t k = 0; k < rows.size(); ++k) slices.push_back({n * k, n * rows[k], n});
///     khs::deep_copy_all(instance, packed, field, slices);
///
/// Copies the same as deep_copy_all of the subviews; a list of Slices takes the host less time.
///
/// \param instance as above
/// \param dst, src of one dimension, LayoutLeft or LayoutRight, and of the same value type; in any
///        spaces that deep_copy copies between
/// \param slices std::vector, std::array, std::span of Slice, or a list in braces; for a host View of
///        Slice: `std::span(view.data(), view.size())`. May be destroyed on return.
/// \throw Error before anything is enqueued: a slice goes beyond a View, or writes what another one
///        reads or writes
template <class ExecutionSpace, class DT, class... DP, class ST, class... SP>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, Kokkos::View<DT, DP...> const& dst,
                   Kokkos::View<ST, SP...> const& src, std::span<Slice const> slices) {
  Impl::copy_all(instance, Impl::PairsOfSlices(dst, src, slices));
}

/// The same for a list in braces.
template <class ExecutionSpace, class DT, class... DP, class ST, class... SP>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, Kokkos::View<DT, DP...> const& dst,
                   Kokkos::View<ST, SP...> const& src, std::initializer_list<Slice> slices) {
  Impl::copy_all(instance, Impl::PairsOfSlices(dst, src, std::span<Slice const>(slices)));
}

/// The same without an instance, for all arguments except lists in braces. Blocks, as
/// `Kokkos::deep_copy(dst, src)`: first waits for all earlier work of all instances, and returns when
/// the copies are done.
template <class First, class... Others>
requires(!Kokkos::is_execution_space_v<First>) void deep_copy_all(First const& first,
                                                                  Others const&... others) {
  Kokkos::fence("KokkosHostSpaces::deep_copy_all: fence before the copies");
  deep_copy_all(Kokkos::DefaultHostExecutionSpace(), first, others...);
  Kokkos::fence("KokkosHostSpaces::deep_copy_all: fence after the copies");
}

}  // namespace KokkosHostSpaces

#endif
