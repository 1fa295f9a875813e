// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_DEEP_COPY_ALL_HPP
#define KOKKOS_HOST_SPACES_DEEP_COPY_ALL_HPP

#include <KokkosHostSpaces/Slice.hpp>
#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>

#include <utility>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

struct MakeCopyOf {
  template <class DT, class... DP, class ST, class... SP>
  std::pair<Kokkos::View<DT, DP...>, Kokkos::View<ST, SP...>> operator()(
      Kokkos::View<DT, DP...> const& dst, Kokkos::View<ST, SP...> const& src) const {
    return {dst, src};
  }
};

}  // namespace Impl
/// \endcond

/// The copy of `src` to `dst`, for deep_copy_all: a std::pair of both Views.
inline constexpr Impl::MakeCopyOf copy_of{};

/// Copies many Views, or slices of two Views, as `Kokkos::deep_copy` with `instance` does, in any order
/// and by as few calls as possible. Meant for many small messages, such as an exchange of halos, where
/// a call for each would cost more than a microsecond. For copies that are repeated, use
/// prepare_deep_copy_all.
///
/// The copies are given in one of two forms. Pairs of Views, by arguments, whose Views may differ in
/// type, or by a std::vector, std::array, ... of pairs of one type:
///
///     khs::deep_copy_all(instance, khs::copy_of(a, b), khs::copy_of(c, d));
///
///     std::vector<std::pair<Device, Host>> halos;
///     for (...) halos.push_back(khs::copy_of(device_part, host_part));
///     khs::deep_copy_all(instance, halos);
///
/// Or slices of two Views, such as rows that an index selects, the faces of a domain, or particles that
/// leave it, which takes the host less time than the same subviews:
///
///     std::vector<khs::Slice> slices;
///     for (std::size_t k = 0; k < rows.size(); ++k) slices.push_back({n * k, n * rows[k], n});
///     khs::deep_copy_all(instance, packed, field, slices);
///
/// Both Views then have one dimension, LayoutLeft or LayoutRight, and the same value type, in any spaces
/// that deep_copy copies between. The list is a std::vector, std::array or std::span of Slice; for a host
/// View of Slice: `std::span(view.data(), view.size())`. Lists may be destroyed on return.
///
/// Merges contiguous copies (*pieces*) that are adjacent on both sides. Makes one 2-D copy of pieces
/// that all have equal lengths and distances. Otherwise copies many short pieces by kernels, of at most
/// 1024 parts of 8 KiB each, and few or long ones by one call of the driver (`cuMemcpyBatchAsync`, CUDA
/// 12.8), or while the stream captures by a call for each. Copies pairs that are not contiguous one by
/// one.
///
/// \param instance a device instance: the copies are asynchronous on it, unless pageable memory takes
///        part; a host instance: they come after its work, and are done on return
/// \param what pairs, one range of pairs, or destination, source and list of Slice
/// \throw Error before anything is enqueued: shapes differ, a slice goes beyond a View, or a copy
///        writes what another one reads or writes (checked among contiguous copies)
template <class ExecutionSpace, class... What>
requires(Kokkos::is_execution_space_v<ExecutionSpace>&& Impl::Batch<What...>) void deep_copy_all(
    ExecutionSpace const& instance, What const&... what) {
  Impl::copy_all(instance, Impl::Pairs<What...>(what...));
}

/// The same without an instance, and for PreparedCopies. Blocks, as `Kokkos::deep_copy(dst, src)`: first
/// waits for all earlier work of all instances, and returns when the copies are done.
template <class First, class... Others>
requires(Impl::Batch<First, Others...> ||
         Impl::Prepared<First>) void deep_copy_all(First const& first, Others const&... others) {
  Kokkos::fence("KokkosHostSpaces::deep_copy_all: fence before the copies");
  if constexpr (Impl::Prepared<First>)
    deep_copy_all(typename First::execution_space(), first);
  else
    deep_copy_all(Kokkos::DefaultHostExecutionSpace(), first, others...);
  Kokkos::fence("KokkosHostSpaces::deep_copy_all: fence after the copies");
}

/// \cond
template <class... What>
void deep_copy_all(What const&...) {
  static_assert(
      Impl::never_v<What...>,
      "deep_copy_all takes, in this order: an instance (may be left out), and then pairs by "
      "khs::copy_of(to, from), or one range of pairs, or two Views and a list of khs::Slice, "
      "or prepared copies");
}
/// \endcond

}  // namespace KokkosHostSpaces

#endif
