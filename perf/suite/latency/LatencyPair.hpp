// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_PAIR_HPP

#include "LatencyBaseline.hpp"
#include "../../plain/Stopwatch.hpp"
#include "../Instance.hpp"
#include "../Pair.hpp"

#include <chrono>
#include <cstdint>

namespace KokkosHostSpaces::Perf {

struct AddOne {
  std::int64_t* count;
  KOKKOS_FUNCTION void operator()(int) const { ++*count; }
};

struct StoreValue {
  std::int64_t* where;
  std::int64_t value;
  KOKKOS_FUNCTION void operator()(int) const { *where = value; }
};

/// Answers signals as LatencyBaseline::answer does. Its accesses are atomic: the host sets the signal and
/// reads the answer meanwhile.
struct AnswerSignals {
  SignalAndAnswer* flags;
  int signals;

  KOKKOS_FUNCTION void operator()(int) const {
    int volatile* const signal = &flags->signal;
    int volatile* const answer = &flags->answer;
    int last                   = 0;
    for (int i = 0; i < signals; ++i) {
      int now = last;
      for (int looks = 0; now == last && looks < most_looks; ++looks) now = *signal;
      if (now == last) return;
      last    = now;
      *answer = 2 * now + 1;
    }
  }
};

/// Seconds by the host's clock, without waiting for work that is enqueued.
template <class Work>
double host_seconds(Work work) {
  auto const begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Base of the pairs of small steps: one stream for both sides, and the number of wrong results of each.
class LatencyPair : public Pair {
 public:
  LatencyPair()
      : m_instance(make_instance(m_stopwatch.stream())),
        m_baseline(make_latency_baseline(m_stopwatch.stream())) {}

  std::string baseline_label() const override { return m_label; }

  std::string find_error() override {
    check();
    return describe_wrong(m_wrong_ours, m_wrong_baseline);
  }

 protected:
  /// Verifies the remaining results.
  virtual void check() {}

  Stopwatch m_stopwatch;
  Execution m_instance;
  std::unique_ptr<LatencyBaseline> m_baseline;
  std::string m_label;
  std::int64_t m_wrong_ours = 0, m_wrong_baseline = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
