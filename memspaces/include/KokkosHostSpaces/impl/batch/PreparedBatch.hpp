// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The batch behind PreparedCopies, which does not have its types: keeps the Views and the plan.

#ifndef KOKKOS_HOST_SPACES_IMPL_PREPARED_BATCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_PREPARED_BATCH_HPP

#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace KokkosHostSpaces::Impl {

/// Copies to be made repeatedly.
template <class ExecutionSpace>
class PreparedBatch {
 public:
  virtual ~PreparedBatch()                                   = default;
  virtual void enqueue(ExecutionSpace const& instance) const = 0;
  /// Returns a device whose memory takes part; -1 if there is none.
  virtual int device() const = 0;
};

/// On a host instance only the checks are done in advance.
/// \tparam Kept what kept() returns for the arguments
template <class ExecutionSpace, class... Kept>
class PreparedPairs final : public PreparedBatch<ExecutionSpace> {
 public:
  explicit PreparedPairs(ExecutionSpace const&, Kept... kept) : m_kept(std::move(kept)...) {
    plan_pairs(pairs(), collect_pieces(pairs()).tables, {});
  }
  void enqueue(ExecutionSpace const& instance) const override {
    if constexpr (drives_device)
      copy_all(instance, pairs());
    else
      copy_others(instance, pairs());
  }
  int device() const override { return pairs().device(); }

 private:
  Pairs<Kept...> pairs() const { return std::make_from_tuple<Pairs<Kept...>>(m_kept); }

  std::tuple<Kept...> m_kept;
};

template <class... Kept>
class PreparedPairs<DrivenDevice, Kept...> final : public PreparedBatch<DrivenDevice> {
 public:
  explicit PreparedPairs(DrivenDevice const& instance, Kept... kept)
      : m_kept(std::move(kept)...), m_device(device_id_of(instance)) {
    if (captures(stream_of(instance)))
      throw Error(
          "KokkosHostSpaces::prepare_deep_copy_all in the capture of a stream (a graph can "
          "launch copies, but not prepare them): prepare them before the capture begins");
    CheckedPairs checked = collect_pieces(pairs());
    m_has_others         = checked.has_others;
    m_plan.emplace(m_device, plan_pairs_on(instance, pairs(), std::move(checked)));
  }

  void enqueue(DrivenDevice const& instance) const override {
    if (device_id_of(instance) != m_device)
      throw Error("KokkosHostSpaces::deep_copy_all of copies that were prepared for device " +
                  std::to_string(m_device) + " on an instance of device " +
                  std::to_string(device_id_of(instance)) +
                  " (whose kernels do not reach them): prepare them for each device");
    ScopedDevice const on_device(stream_of(instance), m_device);
    if (captures(stream_of(instance))) return copy_all(instance, pairs());
    if (m_has_others) copy_others(instance, pairs());
    enqueue_batch(instance, pairs(), [&] { return m_plan->enqueue(instance); });
  }
  int device() const override { return m_device; }

 private:
  Pairs<Kept...> pairs() const { return std::make_from_tuple<Pairs<Kept...>>(m_kept); }

  std::tuple<Kept...> m_kept;
  int m_device;
  bool m_has_others = false;
  std::optional<PreparedPlan> m_plan;
};

}  // namespace KokkosHostSpaces::Impl

#endif
