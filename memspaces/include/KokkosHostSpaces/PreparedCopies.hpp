// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PREPARED_COPIES_HPP
#define KOKKOS_HOST_SPACES_PREPARED_COPIES_HPP

#include <KokkosHostSpaces/DeepCopyAll.hpp>
#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

/// Copies to be made repeatedly.
template <class ExecutionSpace>
struct PreparedBatch {
  int device;  ///< whose memory takes part; -1 if there is none
  std::function<void(ExecutionSpace const& instance)> enqueue;
};

template <class... Kept>
Pairs<Kept...> pairs_of(std::tuple<Kept...> const& kept) {
  return std::make_from_tuple<Pairs<Kept...>>(kept);
}

/// On a host instance only the checks are done in advance.
/// \param kept what kept() returns for the arguments
template <class ExecutionSpace, class... Kept>
PreparedBatch<ExecutionSpace> prepare_batch(ExecutionSpace const&, std::tuple<Kept...> kept) {
  plan_pairs(pairs_of(kept), collect_pieces(pairs_of(kept)).tables, {});
  int const device = pairs_of(kept).device();
  return {device, [kept = std::move(kept)](ExecutionSpace const& instance) {
            if constexpr (drives_device)
              copy_all(instance, pairs_of(kept));
            else
              copy_others(instance, pairs_of(kept));
          }};
}

template <class... Kept>
PreparedBatch<DrivenDevice> prepare_batch(DrivenDevice const& on, std::tuple<Kept...> kept) {
  if (captures(stream_of(on)))
    throw Error(
        "KokkosHostSpaces::prepare_deep_copy_all in the capture of a stream (a graph can "
        "launch copies, but not prepare them): prepare them before the capture begins");
  int const device      = device_id_of(on);
  CheckedPairs checked  = collect_pieces(pairs_of(kept));
  bool const has_others = checked.has_others;
  auto const plan =
      std::make_shared<PreparedPlan>(device, plan_pairs_on(on, pairs_of(kept), std::move(checked)));
  return {
      device, [device, has_others, plan, kept = std::move(kept)](DrivenDevice const& instance) {
        if (device_id_of(instance) != device)
          throw Error("KokkosHostSpaces::deep_copy_all of copies that were prepared for device " +
                      std::to_string(device) + " on an instance of device " +
                      std::to_string(device_id_of(instance)) +
                      " (whose kernels do not reach them): prepare them for each device");
        ScopedDevice const on_device(stream_of(instance), device);
        auto const pairs = pairs_of(kept);
        if (captures(stream_of(instance))) return copy_all(instance, pairs);
        if (has_others) copy_others(instance, pairs);
        enqueue_batch(instance, pairs, [&] { return plan->enqueue(instance); });
      }};
}

}  // namespace Impl
/// \endcond

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
  return PreparedCopies<ExecutionSpace>(std::make_shared<Impl::PreparedBatch<ExecutionSpace>>(
      Impl::prepare_batch(instance, std::make_tuple(Impl::kept(what)...))));
}

/// \cond
template <class... What>
PreparedCopies<Kokkos::DefaultExecutionSpace> prepare_deep_copy_all(What const&...) {
  static_assert(Impl::never_v<What...>,
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
