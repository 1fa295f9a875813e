// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Runner.hpp"

#include "../support/Statistics.hpp"

#include <benchmark/benchmark.h>

#include <exception>
#include <memory>

namespace KokkosHostSpaces::Perf {
namespace {

// Carries out the repetitions of a case.
class Running {
 public:
  Running(Case description, Ranks const& ranks, bool plant_error)
      : m_case(std::move(description)), m_ranks(ranks), m_plant_error(plant_error) {}

  void repeat(benchmark::State& state) {
    bool const first = m_repetition == 0;
    bool const last  = ++m_repetition == m_case.repetitions;
    // A rank that fails still takes part in the barriers of the others.
    if (first) {
      m_error.clear();
      m_of_this_rank.clear();
      attempt([&] { m_pair = m_case.make(); });
    }
    Sample sample;
    for (auto _ : state) {
      sample = measure();
      state.SetIterationTime(sample.ours);
    }
    attempt([&] {
      if (first && m_plant_error) m_pair->damage();
      if (first || last) m_error = m_pair->find_error();
    });
    report(state, sample, last);
    if (last) {
      m_pair.reset();
      m_case.make = nullptr;  // with what it shares with other cases
    }
  }

 private:
  struct Sample {
    double ours = 0, baseline = 0;  // of the slowest rank
    double sum_of_rates = 0;        // of all ranks
  };

  template <class Action>
  void attempt(Action action) {
    try {
      if (m_error.empty()) action();
    } catch (std::exception const& error) {
      m_error = error.what();
    }
    m_error = m_ranks.first_of(m_error);
  }

  double time_at_once(double (Pair::*time)()) {
    double seconds = 0;
    attempt([&] {
      m_ranks.barrier();
      seconds = (*m_pair.*time)();
    });
    return seconds;
  }

  double slowest_baseline() { return m_ranks.greatest(time_at_once(&Pair::time_baseline)); }

  // Alternate the order, since each side leaves its caches and clocks to the other.
  Sample measure() {
    Sample sample;
    bool const baseline_first = m_repetition % 2 == 0;
    if (baseline_first) sample.baseline = slowest_baseline();
    double const ours = time_at_once(&Pair::time_ours);
    m_of_this_rank.push_back(ours);
    sample.ours         = m_ranks.greatest(ours);
    sample.sum_of_rates = m_ranks.sum(ours > 0 ? m_case.bytes / ours : 0);
    if (!baseline_first) sample.baseline = slowest_baseline();
    return sample;
  }

  void report(benchmark::State& state, Sample const& sample, bool last) {
    if (!m_error.empty()) {
      state.SkipWithError(m_error);
      return;
    }
    state.SetLabel(m_pair->baseline_label());
    state.counters["bytes"]            = m_case.bytes;
    state.counters["baseline_seconds"] = sample.baseline;
    state.counters["ratio"]            = sample.baseline / sample.ours;
    for (auto const& [name, value] : m_pair->counters())
      state.counters[name] = m_ranks.greatest(value);
    if (m_ranks.size() > 1) {
      state.counters["ranks"]                = m_ranks.size();
      state.counters["sum_bytes_per_second"] = sample.sum_of_rates;
      if (last) report_each_rank(state);
    }
  }

  // Report each rank once, with the median over all repetitions.
  void report_each_rank(benchmark::State& state) const {
    std::vector<double> const medians = m_ranks.of_all(summarize(m_of_this_rank).median);
    for (std::size_t rank = 0; rank < medians.size(); ++rank)
      state.counters["rank_" + std::to_string(rank) + "_seconds"] = medians[rank];
  }

  Case m_case;
  Ranks const& m_ranks;
  bool m_plant_error;
  std::unique_ptr<Pair> m_pair;
  std::string m_error;
  int m_repetition = 0;
  std::vector<double> m_of_this_rank;  // seconds of our side
};

}  // namespace

void register_cases(Cases cases, Ranks const& ranks, bool plant_error) {
  for (Case& each : cases) {
    std::string const name = each.name;
    int const repetitions  = each.repetitions;
    auto const running     = std::make_shared<Running>(std::move(each), ranks, plant_error);
    benchmark::RegisterBenchmark(name,
                                 [running](benchmark::State& state) { running->repeat(state); })
        ->Iterations(1)
        ->Repetitions(repetitions)
        ->UseManualTime()
        ->Unit(benchmark::kSecond);
  }
}

}  // namespace KokkosHostSpaces::Perf
