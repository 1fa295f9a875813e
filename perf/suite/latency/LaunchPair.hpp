// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LAUNCH_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LAUNCH_PAIR_HPP

#include "../BestVariant.hpp"
#include "LatencyPair.hpp"

#include <KokkosHostSpaces/GraphInstantiate.hpp>

#include <Kokkos_Graph.hpp>

#include <string>

namespace KokkosHostSpaces::Perf {

/// Counters on the device that the kernels of each side increment, and their expected values.
class CountingPair : public LatencyPair {
 public:
  void damage() override {
    Kokkos::parallel_for("damage", once(m_instance), AddOne{ours()});
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
      for (int i = 0; i < launches; ++i)
        Kokkos::parallel_for("add_one", once(m_instance), AddOne{ours()});
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

/// Times the device for a kernel in a graph of kernels in a row. The graph is made on the default instance, as
/// Kokkos 5.2 demands.
class GraphPair final : public CountingPair {
  using Graph = Kokkos::Experimental::Graph<Execution>;
  using Node  = Kokkos::Experimental::GraphNodeRef<Execution>;

 public:
  static constexpr int kernels = 32;

  GraphPair() {
    Node node = m_graph.root_node();
    for (int i = 0; i < kernels; ++i)
      node = node.then_parallel_for("add_one", once(Execution()), AddOne{ours()});
    instantiate(m_graph);
    m_stopwatch.time_with_host_clock([this] { enqueue_ours(); });
    std::string const chosen = choose_best_variant(
        *m_baseline, 3, [this] { make_baseline(); }, [this] { return time_baseline(); });
    make_baseline();
    m_label = runs_on_device ? "cudaGraphLaunch: " + chosen : "calls of std::function";
  }

  double time_ours() override {
    return m_stopwatch.time_queued([this] { enqueue_ours(); }) / (launches * kernels);
  }
  double time_baseline() override {
    return m_stopwatch.time_queued([this] { enqueue_baseline(); }) / (launches * kernels);
  }

 private:
  static constexpr int launches = 8;

  void make_baseline() {
    m_baseline->make_graph(kernels, baselines());
    m_stopwatch.time_with_host_clock([this] { enqueue_baseline(); });
  }

  void enqueue_ours() {
    m_expected_ours += launches * kernels;
    for (int i = 0; i < launches; ++i) m_graph.submit(m_instance);
#ifndef KOKKOS_ENABLE_CUDA
    m_instance.fence();  // the baseline's loop returns when done
#endif
  }

  void enqueue_baseline() {
    m_expected_baseline += launches * kernels;
    for (int i = 0; i < launches; ++i) m_baseline->launch_graph();
  }

  Graph m_graph;
};

}  // namespace KokkosHostSpaces::Perf

#endif
