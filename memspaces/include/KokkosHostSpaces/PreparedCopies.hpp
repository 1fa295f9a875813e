// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PREPARED_COPIES_HPP
#define KOKKOS_HOST_SPACES_PREPARED_COPIES_HPP

#include <KokkosHostSpaces/DeepCopyAll.hpp>
#include <KokkosHostSpaces/impl/batch/PreparedBatch.hpp>

#include <memory>
#include <utility>

namespace KokkosHostSpaces {

/// Many copies that are planned once and made often, such as the halos of every time step: like
/// persistent requests of MPI. prepare_deep_copy_all returns one; deep_copy_all makes the copies.
///
///     auto const halos = khs::prepare_deep_copy_all(instance, pairs_of_parts);
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
  using execution_space = ExecutionSpace;  ///< of the instances that make the copies

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
/// \param what as for deep_copy_all: pairs, one range of pairs, or destination, source and list of Slice
/// \throw Error as deep_copy_all does (later calls check nothing), and in a capture
template <class ExecutionSpace, class... What>
requires(Kokkos::is_execution_space_v<ExecutionSpace>&& Impl::Batch<What...>)  //
    [[nodiscard]] PreparedCopies<ExecutionSpace> prepare_deep_copy_all(
        ExecutionSpace const& instance, What const&... what) {
  using Batch = Impl::PreparedPairs<ExecutionSpace, decltype(Impl::kept(what))...>;
  return PreparedCopies<ExecutionSpace>(std::make_shared<Batch>(instance, Impl::kept(what)...));
}

/// \cond
template <class First, class... Others>
requires(!(Impl::ExecutionSpace<First> && Impl::Batch<Others...>))  //
    PreparedCopies<Kokkos::DefaultExecutionSpace> prepare_deep_copy_all(First const&,
                                                                        Others const&...) {
  static_assert(Impl::never_v<First, Others...>,
                "prepare_deep_copy_all takes, in this order: an instance, and then pairs by "
                "khs::copy_of(to, from), or one range of pairs, or two Views and a list of "
                "khs::Slice");
  return {};
}
/// \endcond

/// Makes prepared copies, ordered on `instance`: many short pieces by one launch of a graph, others as
/// deep_copy_all of the same Views does. Asynchronous on a device instance, done on return on a host
/// instance. While the stream captures, the copies become part of the captured graph; `copies` may then
/// be destroyed, if its Views may. Several threads may call it at once on several instances, in any
/// order: the caller ensures that nothing writes the sources meanwhile.
/// \throw Error if the instance is on another device
template <class ExecutionSpace>
requires Kokkos::is_execution_space_v<ExecutionSpace>
void deep_copy_all(ExecutionSpace const& instance, PreparedCopies<ExecutionSpace> const& copies) {
  if (copies.batch() != nullptr) copies.batch()->enqueue(instance);
}

}  // namespace KokkosHostSpaces

#endif
