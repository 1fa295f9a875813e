// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The batch behind PreparedCopies, which does not have its types: keeps the Views and the plan.

#ifndef KOKKOS_HOST_SPACES_IMPL_PREPARED_BATCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_PREPARED_BATCH_HPP

#include <KokkosHostSpaces/impl/batch/CopyAll.hpp>

#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Copies the Views of two ranges; the caller may destroy the ranges.
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

template <class Pair>
struct KeptPairs {
  PairsOfPairs<std::vector<Pair>> pairs() const { return PairsOfPairs<std::vector<Pair>>(list); }
  std::vector<Pair> list;
};

template <class... Copies>
struct KeptArguments {
  PairsOfArguments<Copies...> pairs() const {
    return std::apply([](Copies const&... copy) { return PairsOfArguments<Copies...>(copy...); },
                      copies);
  }
  std::tuple<Copies...> copies;
};

/// Copies two Views and the list of slices; the caller may destroy them.
template <class Dst, class Src>
struct KeptSlices {
  PairsOfSlices<Dst, Src> pairs() const { return {dst, src, slices}; }

  Dst dst;
  Src src;
  std::vector<Slice> slices;
};

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
template <class ExecutionSpace, class Kept>
class PreparedPairs final : public PreparedBatch<ExecutionSpace> {
 public:
  PreparedPairs(ExecutionSpace const&, Kept&& kept) : m_kept(std::move(kept)) {
    auto const pairs = m_kept.pairs();
    plan_pairs(pairs, collect_pieces(pairs).tables, {});
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
    if (captures(instance.cuda_stream()))
      throw Error(
          "KokkosHostSpaces::prepare_deep_copy_all in the capture of a stream (a graph can "
          "launch copies, but not prepare them): prepare them before the capture begins");
    auto const pairs     = m_kept.pairs();
    CheckedPairs checked = collect_pieces(pairs);
    m_has_others         = checked.has_others;
    m_plan.emplace(m_device, plan_pairs_on(instance, pairs, std::move(checked.tables)));
  }

  void enqueue(Kokkos::Cuda const& instance) const override {
    auto const pairs = m_kept.pairs();
    if (instance.cuda_device() != m_device)
      throw Error("KokkosHostSpaces::deep_copy_all of copies that were prepared for device " +
                  std::to_string(m_device) + " on an instance of device " +
                  std::to_string(instance.cuda_device()) +
                  " (whose kernels do not reach them): prepare them for each device");
    ScopedDevice const on_device(instance.cuda_stream(), m_device);
    if (captures(instance.cuda_stream())) return copy_all(instance, pairs);
    if (m_has_others) copy_others(instance, pairs);
    enqueue_batch(instance, pairs, [&] { return m_plan->enqueue(instance); });
  }
  int device() const override { return m_device; }

 private:
  Kept m_kept;
  int m_device;
  bool m_has_others = false;
  std::optional<PreparedPlan> m_plan;
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
