// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PREPARED_COPIES_HPP
#define KOKKOS_HOST_SPACES_PREPARED_COPIES_HPP

#include <KokkosHostSpaces/DeepCopyAll.hpp>
#include <KokkosHostSpaces/impl/batch/PreparedBatch.hpp>

#include <initializer_list>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace KokkosHostSpaces {

/// Many copies that are planned once and made often, such as the halos of every time step: like
/// persistent requests of MPI. prepare_deep_copy_all returns one; deep_copy_all makes the copies.
///
///     auto const halos = khs::prepare_deep_copy_all(instance, device_parts, host_parts);
///     for (int step = 0; step < steps; ++step) {
///       ...
///       khs::deep_copy_all(instance, halos);
///     }
///
/// Keeps the Views, and for short pieces a CUDA graph of the kernels that copy them; copies of this
/// object share both. Each call copies the contents that the Views have then. The object may be
/// destroyed while copies are under way. Destroy it before Kokkos::finalize, as Views on a device. A
/// default-constructed object copies nothing.
template <class ExecutionSpace>
class PreparedCopies {
 public:
  PreparedCopies() = default;
  /// \cond for prepare_deep_copy_all and deep_copy_all
  explicit PreparedCopies(std::shared_ptr<Impl::PreparedBatch<ExecutionSpace> const> batch)
      : m_batch(std::move(batch)) {}
  Impl::PreparedBatch<ExecutionSpace> const* batch() const { return m_batch.get(); }
  /// \endcond

 private:
  std::shared_ptr<Impl::PreparedBatch<ExecutionSpace> const> m_batch;
};

/// Plans what deep_copy_all with the same arguments would do. Copies nothing, and does not wait for
/// `instance`.
/// \param instance of the same execution space and device as the instances that will make the copies;
///        not captured into a graph
/// \param dsts, srcs std::vector, std::array, lists in braces, ... of Views of one type each
/// \throw Error as deep_copy_all does (later calls check nothing), and in a capture
template <class ExecutionSpace, Impl::RangeOfViews Dsts, Impl::RangeOfViews Srcs>
requires Kokkos::is_execution_space_v<ExecutionSpace>
[[nodiscard]] PreparedCopies<ExecutionSpace> prepare_deep_copy_all(ExecutionSpace const& instance,
                                                                   Dsts const& dsts,
                                                                   Srcs const& srcs) {
  return PreparedCopies<ExecutionSpace>(Impl::prepare_ranges(instance, dsts, srcs));
}

/// The same for lists in braces.
template <class ExecutionSpace, class Dst, class Src>
requires Kokkos::is_execution_space_v<ExecutionSpace>
[[nodiscard]] PreparedCopies<ExecutionSpace> prepare_deep_copy_all(
    ExecutionSpace const& instance, std::initializer_list<Dst> dsts,
    std::initializer_list<Src> srcs) {
  return PreparedCopies<ExecutionSpace>(Impl::prepare_ranges(instance, dsts, srcs));
}

/// The same for a range of std::pair of a destination and a source.
template <class ExecutionSpace, Impl::RangeOfPairs Pairs>
requires Kokkos::is_execution_space_v<ExecutionSpace>
[[nodiscard]] PreparedCopies<ExecutionSpace> prepare_deep_copy_all(ExecutionSpace const& instance,
                                                                   Pairs const& pairs) {
  using Kept = Impl::KeptPairs<std::ranges::range_value_t<Pairs const>>;
  return PreparedCopies<ExecutionSpace>(
      Impl::prepare_kept(instance, Kept{{std::ranges::begin(pairs), std::ranges::end(pairs)}}));
}

/// The same for Views of several types.
template <class ExecutionSpace, class Dst, class Src, class... Dsts, class... Srcs>
requires Kokkos::is_execution_space_v<ExecutionSpace>
[[nodiscard]] PreparedCopies<ExecutionSpace> prepare_deep_copy_all(
    ExecutionSpace const& instance, CopyOf<Dst, Src> const& first,
    CopyOf<Dsts, Srcs> const&... others) {
  using Kept = Impl::KeptArguments<CopyOf<Dst, Src>, CopyOf<Dsts, Srcs>...>;
  return PreparedCopies<ExecutionSpace>(Impl::prepare_kept(instance, Kept{{first, others...}}));
}

/// The same for slices of two Views; see deep_copy_all.
template <class ExecutionSpace, class DT, class... DP, class ST, class... SP>
requires Kokkos::is_execution_space_v<ExecutionSpace>
[[nodiscard]] PreparedCopies<ExecutionSpace> prepare_deep_copy_all(
    ExecutionSpace const& instance, Kokkos::View<DT, DP...> const& dst,
    Kokkos::View<ST, SP...> const& src, std::span<Slice const> slices) {
  return PreparedCopies<ExecutionSpace>(Impl::prepare_kept(
      instance, Impl::KeptSlices<Kokkos::View<DT, DP...>, Kokkos::View<ST, SP...>>{
                    dst, src, {slices.begin(), slices.end()}}));
}

/// The same for a list in braces.
template <class ExecutionSpace, class DT, class... DP, class ST, class... SP>
requires Kokkos::is_execution_space_v<ExecutionSpace>
[[nodiscard]] PreparedCopies<ExecutionSpace> prepare_deep_copy_all(
    ExecutionSpace const& instance, Kokkos::View<DT, DP...> const& dst,
    Kokkos::View<ST, SP...> const& src, std::initializer_list<Slice> slices) {
  return prepare_deep_copy_all(instance, dst, src, std::span<Slice const>(slices));
}

/// Makes prepared copies, ordered on `instance`: many short pieces by one launch of a graph, others as
/// deep_copy_all of the same Views does. Asynchronous on a Cuda instance, done on return on a host
/// instance. While the stream captures, the copies become part of the captured graph; `copies` may then
/// be destroyed, if its Views may. Several threads may call it at once on several instances, in any
/// order: the caller ensures that nothing writes the sources meanwhile.
/// \throw Error if the instance is on another device
template <class ExecutionSpace>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, PreparedCopies<ExecutionSpace> const& copies) {
  if (copies.batch() != nullptr) copies.batch()->enqueue(instance);
}

/// The same on the default instance. Blocks, as deep_copy_all without an instance.
/// \throw Error if the default instance is on another device
template <class ExecutionSpace>
void deep_copy_all(PreparedCopies<ExecutionSpace> const& copies) {
  Kokkos::fence("KokkosHostSpaces::deep_copy_all: fence before the copies");
  deep_copy_all(ExecutionSpace(), copies);
  Kokkos::fence("KokkosHostSpaces::deep_copy_all: fence after the copies");
}

}  // namespace KokkosHostSpaces

#endif
