// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_TRANSPORT_TRANSPORT_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_TRANSPORT_TRANSPORT_PAIR_HPP

#include "../../plain/Stopwatch.hpp"
#include "../BestVariant.hpp"
#include "../Pair.hpp"
#include "../copy/Contents.hpp"
#include "../copy/CopyMemory.hpp"
#include "../copy/KokkosCopy.hpp"
#include "../vector/Contents.hpp"
#include "../vector/Functors.hpp"
#include "../vector/VectorMemory.hpp"

namespace KokkosHostSpaces::Perf {

/// The host arrays of both sides, and their copies on the device, which both use. Kernels work in place if
/// the space allows it.
template <class Space>
struct TransportMemory {
  static constexpr bool in_place = Kokkos::SpaceAccessibility<Execution, Space>::accessible;

  explicit TransportMemory(std::size_t bytes_each)
      : data(bytes_each, plain_kind<Space>),
        staging(in_place ? 0 : bytes_each, PlainKind::device) {}

  VectorMemory<Space> data;
  VectorMemory<Execution::memory_space> staging;
};

struct TransportCase {
  std::size_t elements;
  std::size_t runs;  ///< runs of a sample, all on the same arrays
};

/// Times c = a + s b on data in `Space`: in place, or with copies of a and b to the device and of c back.
/// Combines copies and vector kernels of the other groups.
template <class Space>
class TransportPair final : public Pair {
  using Memory = TransportMemory<Space>;
  using Arrays = VectorArguments<double>;

 public:
  TransportPair(TransportCase const& description, std::shared_ptr<Memory> memory)
      : m_case(description),
        m_memory(std::move(memory)),
        m_instance(make_instance(m_stopwatch.stream())),
        m_ours(arrays(m_memory->data.ours)),
        m_plain(arrays(m_memory->data.plain)),
        m_staging(arrays(m_memory->staging.plain)),
        m_to_device(shape(), CopyDirection::to_device, m_instance),
        m_to_host(shape(), CopyDirection::to_host, m_instance),
        m_baseline_to_device(
            make_copy_baseline(shape(), CopyDirection::to_device, m_stopwatch.stream())),
        m_baseline_to_host(
            make_copy_baseline(shape(), CopyDirection::to_host, m_stopwatch.stream())),
        m_baseline(make_vector_baseline<double>(triad, {Memory::in_place ? m_plain : m_staging},
                                                m_case.elements, Rivals::all,
                                                m_stopwatch.stream())) {
    for (Arrays const& data : {m_ours, m_plain})
      on_data([&](auto const& instance) { fill(data, 1, n(), instance); });
    m_stopwatch.time_with_host_clock([this] { enqueue_ours(); });
    // All kernels are equally fast over the link.
    bool const on_device = std::is_same_v<Space, Execution::memory_space>;
    m_label              = choose_best_variant(
                     *m_baseline, on_device ? 3 : 1,
                     [this] { m_stopwatch.time_with_host_clock([this] { enqueue_baseline(); }); },
                     [this] { return time_baseline(); }, on_device ? 1 : 3);
  }

  double time_ours() override {
    return time([this] { enqueue_ours(); });
  }
  double time_baseline() override {
    return time([this] { enqueue_baseline(); });
  }

  /// Verifies one more sample of each side, on poisoned outputs and device arrays.
  std::string find_error() override {
    reset(m_ours);
    time_ours();
    if (m_damaged) on_data([&](auto const& instance) { spoil(triad, m_ours, n(), instance); });
    std::int64_t const ours = wrong(m_ours);
    reset(m_plain);
    time_baseline();
    return describe_wrong(ours, wrong(m_plain));
  }

 private:
  static constexpr VectorOperation triad = VectorOperation::triad;

  std::int64_t n() const { return std::int64_t(m_case.elements); }
  CopyShape shape() const { return {CopyLayout::contiguous, 1, m_case.elements}; }

  static Arrays arrays(void* const (&three)[3]) {
    auto const at = [&](int k) { return static_cast<double*>(three[k]); };
    return {at(0), at(1), at(2), nullptr};
  }

  void enqueue_ours() {
    for (std::size_t i = 0; i < m_case.runs; ++i) {
      if constexpr (Memory::in_place) {
        launch(m_ours);
      } else {
        m_to_device.enqueue(m_ours.a, m_staging.a);
        m_to_device.enqueue(m_ours.b, m_staging.b);
        launch(m_staging);
        m_to_host.enqueue(m_ours.c, m_staging.c);
      }
    }
#ifndef KOKKOS_ENABLE_CUDA
    m_instance.fence();  // the baseline's loop returns when done
#endif
  }

  void launch(Arrays const& at) const {
    Kokkos::parallel_for("triad", Elements<Execution>(m_instance, 0, n()),
                         MapBody<ElementOperation<triad, double>, double, 2>{at.c, {{at.a, at.b}}});
  }

  void enqueue_baseline() {
    for (std::size_t i = 0; i < m_case.runs; ++i) {
      if constexpr (!Memory::in_place) {
        m_baseline_to_device->enqueue(m_staging.a, m_plain.a);
        m_baseline_to_device->enqueue(m_staging.b, m_plain.b);
      }
      m_baseline->enqueue();
      if constexpr (!Memory::in_place) m_baseline_to_host->enqueue(m_plain.c, m_staging.c);
    }
  }

  // CUDA copies pageable memory while the caller waits, so that it cannot be queued.
  double time(Stopwatch::Work const& work) {
    double const seconds =
        is_pageable<Space> ? m_stopwatch.time_with_host_clock(work) : m_stopwatch.time_queued(work);
    return seconds / double(m_case.runs);
  }

  // Run action(instance) with an execution space that can access all of the data.
  template <class Action>
  void on_data(Action action) const {
    if constexpr (std::is_same_v<Space, Execution::memory_space>)
      action(m_instance);
    else
      action(Kokkos::DefaultHostExecutionSpace());
  }

  void reset(Arrays const& data) const {
    on_data([&](auto const& instance) { reset_results(triad, data, 1, n(), instance); });
    if constexpr (!Memory::in_place)
      for (double* copy : {m_staging.a, m_staging.b, m_staging.c}) poison(m_instance, copy, n());
  }

  std::int64_t wrong(Arrays const& data) const {
    std::int64_t result = 0;
    on_data([&](auto const& instance) { result = count_wrong(triad, data, 1, n(), 1, instance); });
    return result;
  }

  TransportCase m_case;
  std::shared_ptr<Memory> m_memory;
  Stopwatch m_stopwatch;
  Execution m_instance;
  Arrays m_ours, m_plain, m_staging;
  KokkosCopy<Space> m_to_device, m_to_host;
  std::unique_ptr<CopyBaseline> m_baseline_to_device, m_baseline_to_host;
  std::unique_ptr<VectorBaseline> m_baseline;
};

}  // namespace KokkosHostSpaces::Perf

#endif
