// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LAUNCH_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LAUNCH_PAIR_HPP

#include "../BestVariant.hpp"
#include "LatencyPair.hpp"

#include <KokkosHostSpaces/ParallelFor.hpp>

#include <string>

namespace KokkosHostSpaces::Perf {

/// Counters on the device that the kernels of each side increment, and their expected values.
class CountingPair : public LatencyPair {
 public:
  void damage() override {
    parallel_for("damage", m_instance, 1, AddOne{ours()});
    m_instance.fence();
  }

 protected:
  std::int64_t* ours() const { return m_counts.data(); }
  std::int64_t* baselines() const { return m_counts.data() + 1; }

  void check() override {
    auto const counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_counts);
    m_wrong_ours += counts(0) != m_expected_ours;
    m_wrong_baseline += counts(1) != m_expected_baseline;
  }

  std::int64_t m_expected_ours = 0, m_expected_baseline = 0;

 private:
  Kokkos::View<std::int64_t[2], Execution::memory_space> m_counts{"counts"};
};

/// Times the calling thread in a launch of the smallest kernel.
class LaunchPair final : public CountingPair {
 public:
  LaunchPair() {
    m_label = choose_best_variant(
        *m_baseline, 3, [this] { time_baseline(); }, [this] { return time_baseline(); });
    time_ours();
  }

  double time_ours() override {
    m_expected_ours += launches;
    double const seconds = host_seconds([this] {
      for (int i = 0; i < launches; ++i) parallel_for("add_one", m_instance, 1, AddOne{ours()});
    });
    m_instance.fence();
    return seconds / launches;
  }

  double time_baseline() override {
    m_expected_baseline += launches;
    double const seconds = host_seconds([this] {
      for (int i = 0; i < launches; ++i) m_baseline->count(baselines());
    });
    m_baseline->fence();
    return seconds / launches;
  }

 private:
  static constexpr int launches = 256;  // fits into the queue of a stream
};

}  // namespace KokkosHostSpaces::Perf

#endif
