// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_FENCE_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_FENCE_PAIR_HPP

#include "../../plain/PlainBuffer.hpp"
#include "LatencyPair.hpp"

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/ParallelFor.hpp>

namespace KokkosHostSpaces::Perf {

/// Times a fence of an idle instance, or a launch of the smallest kernel and a fence. The kernel stores a
/// number in host memory, which must be there after the fence.
class FencePair final : public LatencyPair {
 public:
  explicit FencePair(bool idle)
      : m_idle(idle), m_plain(make_plain_buffer(PlainKind::pinned, sizeof(std::int64_t))) {
    m_label = runs_on_device ? "cudaStreamSynchronize" : "nothing";
    time_ours();
    time_baseline();
  }

  double time_ours() override {
    auto const launch = [this] {
      parallel_for("store", m_instance, 1, StoreValue{m_ours.data(), ++m_last});
    };
    return time(
        launch, [this] { m_instance.fence(); }, m_ours.data(), m_wrong_ours);
  }

  double time_baseline() override {
    auto const launch = [this] { m_baseline->store(plain(), ++m_last); };
    return time(
        launch, [this] { m_baseline->fence(); }, plain(), m_wrong_baseline);
  }

  void damage() override {
    parallel_for("store", m_instance, 1, StoreValue{m_ours.data(), -1});
    m_instance.fence();
    m_wrong_ours += !is_there(m_ours.data());
  }

 private:
  static constexpr int fences = 64;

  std::int64_t* plain() const { return static_cast<std::int64_t*>(m_plain.get()); }
  bool is_there(std::int64_t volatile const* stored) const { return *stored == m_last; }

  template <class Launch, class Fence>
  double time(Launch launch, Fence fence, std::int64_t const* stored, std::int64_t& wrong) {
    if (!m_idle)
      return host_seconds([&] {
               for (int i = 0; i < fences; ++i) {
                 launch();
                 fence();
                 wrong += !is_there(stored);
               }
             }) /
             fences;
    launch();
    fence();
    wrong += !is_there(stored);
    return host_seconds([&] {
             for (int i = 0; i < fences; ++i) fence();
           }) /
           fences;
  }

  bool m_idle;
  Kokkos::View<std::int64_t, MappedSpace> m_ours{"stored"};
  PlainBuffer m_plain;
  std::int64_t m_last = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
