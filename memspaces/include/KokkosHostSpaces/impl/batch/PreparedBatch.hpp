// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What PreparedCopies hold: the Views, and the plan for their copies.

#ifndef KOKKOS_HOST_SPACES_IMPL_PREPARED_BATCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_PREPARED_BATCH_HPP

#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>
#include <KokkosHostSpaces/impl/batch/CopyPairs.hpp>

#include <memory>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Views of two ranges, which may go.
template <class Dst, class Src>
struct KeptRanges {
  template <class Dsts, class Srcs>
  KeptRanges(Dsts const& of_dsts, Srcs const& of_srcs)
      : dsts(std::ranges::begin(of_dsts), std::ranges::end(of_dsts)),
        srcs(std::ranges::begin(of_srcs), std::ranges::end(of_srcs)) {}
  PairsOfRanges<std::vector<Dst>, std::vector<Src>> pairs() const { return {dsts, srcs}; }

  std::vector<Dst> dsts;
  std::vector<Src> srcs;
};

template <class... Copies>
struct KeptArguments {
  PairsOfArguments<Copies...> pairs() const {
    return std::apply([](Copies const&... copy) { return PairsOfArguments<Copies...>(copy...); },
                      copies);
  }
  std::tuple<Copies...> copies;
};

/// Copies that are made again and again.
template <class ExecutionSpace>
class PreparedBatch {
 public:
  virtual ~PreparedBatch()                                   = default;
  virtual void enqueue(ExecutionSpace const& instance) const = 0;
  /// A device whose memory takes part; -1 if there is none.
  virtual int device() const = 0;
};

/// On a host instance the checks are what is done once.
template <class ExecutionSpace, class Kept>
class PreparedPairs final : public PreparedBatch<ExecutionSpace> {
 public:
  PreparedPairs(ExecutionSpace const&, Kept&& kept) : m_kept(std::move(kept)) {
    check_pairs(m_kept.pairs(), CopyBatch::Neighbours::apart);
  }
  void enqueue(ExecutionSpace const& instance) const override {
#ifdef KOKKOS_ENABLE_CUDA
    copy_all(instance, m_kept.pairs());
#else
    copy_others(instance, m_kept.pairs());
#endif
  }
  int device() const override { return m_kept.pairs().device(); }

 private:
  Kept m_kept;
};

#ifdef KOKKOS_ENABLE_CUDA

template <class Kept>
class PreparedPairs<Kokkos::Cuda, Kept> final : public PreparedBatch<Kokkos::Cuda> {
 public:
  PreparedPairs(Kokkos::Cuda const& instance, Kept&& kept)
      : m_kept(std::move(kept)), m_device(instance.cuda_device()) {
    if (CopyBatch::captures(instance.cuda_stream()))
      throw Error(
          "KokkosHostSpaces::prepare_deep_copy_all in the capture of a stream (a graph can "
          "launch copies, but not prepare them): prepare them before the capture begins");
    auto const pairs     = m_kept.pairs();
    CheckedPairs checked = check_pairs(pairs, CopyBatch::Neighbours::apart);
    m_has_others         = checked.has_others;
    // Few to a device go by a kernel that starts early, or by a call of the driver: CopyThresholds.hpp.
    bool const by_call = pairs.are_to_device && CopyBatch::has_call(instance.cuda_stream()),
               early   = by_call && instance.cuda_device_prop().major >= 9;
    auto const use     = early     ? BatchPlan::Use::again_to_device
                         : by_call ? BatchPlan::Use::once_to_device
                                   : BatchPlan::Use::again;
    m_plan             = checked.batch.plan(m_device, use);
    m_plan.to_device   = pairs.are_to_device;
    m_pieces           = ListedPieces(m_device, m_plan.for_kernel, early);
    m_plan.for_kernel  = {};
  }

  void enqueue(Kokkos::Cuda const& instance) const override {
    auto const pairs = m_kept.pairs();
    if (instance.cuda_device() != m_device)
      throw Error("KokkosHostSpaces::deep_copy_all of copies that were prepared for device " +
                  std::to_string(m_device) + " on an instance of device " +
                  std::to_string(instance.cuda_device()) +
                  " (whose kernels do not reach them): prepare them for each device");
    ScopedDevice const on_device(instance.cuda_stream(), m_device);
    if (CopyBatch::captures(instance.cuda_stream())) return enqueue_all(instance, pairs);
    if (m_has_others) copy_others(instance, pairs);
    if (tools_see_copies()) show_batch(pairs);
    m_pieces.enqueue(instance);
    if (!m_plan.enqueue(instance.cuda_stream())) copy_each_of_batch(instance, pairs);
    guard_batch(instance, pairs);
  }
  int device() const override { return m_device; }

 private:
  Kept m_kept;
  int m_device;
  bool m_has_others = false;
  BatchPlan m_plan;
  ListedPieces m_pieces;
};

#endif

template <class ExecutionSpace, class Kept>
std::shared_ptr<PreparedBatch<ExecutionSpace> const> prepare_kept(ExecutionSpace const& instance,
                                                                  Kept&& kept) {
  return std::make_shared<PreparedPairs<ExecutionSpace, Kept>>(instance, std::move(kept));
}

template <class ExecutionSpace, class Dsts, class Srcs>
auto prepare_ranges(ExecutionSpace const& instance, Dsts const& dsts, Srcs const& srcs) {
  using Kept =
      KeptRanges<std::ranges::range_value_t<Dsts const>, std::ranges::range_value_t<Srcs const>>;
  PairsOfRanges<Dsts, Srcs> const equally_long(dsts, srcs);
  return prepare_kept(instance, Kept(dsts, srcs));
}

}  // namespace KokkosHostSpaces::Impl

#endif
