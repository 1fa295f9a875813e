// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_ALLOC_SERIES_HPP
#define KOKKOS_HOST_SPACES_PERF_ALLOC_SERIES_HPP

#include "Latency.hpp"
#include "Ways.hpp"

#include <optional>

namespace KokkosHostSpaces::Perf {

/// Ways take turns in so many rounds: what disturbs the machine meets all of them.
inline constexpr int rounds = 4;

/// The latencies of one way, as they are measured.
struct Series {
  std::string way;
  std::vector<double> latencies;
  double seconds = 0;  ///< spent in total
  bool verified  = true;
};

/// The series of all ways; the first is that of PinnedSpace.
class AllSeries {
 public:
  Series& of(std::string const& way) {
    for (Series& series : m_series)
      if (series.way == way) return series;
    return m_series.emplace_back(Series{way, {}, 0, true});
  }

  void report(Situation situation, std::size_t bytes, int threads,
              std::vector<Latency>& out) const {
    double reference = 0;
    for (Series const& series : m_series) {
      if (series.latencies.empty()) continue;
      Distribution const seconds = describe_distribution(series.latencies);
      if (series.way == way_of_pool) reference = seconds.p50;
      out.push_back({situation, series.way, bytes, threads, seconds, seconds.p50 / reference,
                     series.verified});
    }
  }

 private:
  std::vector<Series> m_series;
};

/// Allocates and frees, in turn, while `go_on()`; at least once if the series is empty.
template <class Way, class NextSize, class GoOn>
void time_pairs(Way const& way, NextSize next_size, GoOn go_on, Series& series) {
  auto const begin = Clock::now();
  for (bool first = true; series.latencies.empty() || go_on(); first = false) {
    std::size_t const bytes = next_size();
    auto start              = Clock::now();
    std::optional block(way(bytes));
    double const allocating = seconds_since(start);
    char* const data        = begin_of(*block);
    series.verified &= keeps_its_ends(data, bytes, char(series.latencies.size()));
    if (first) series.verified &= is_page_locked_throughout(data, bytes);
    start = Clock::now();
    block.reset();
    series.latencies.push_back(allocating + seconds_since(start));
  }
  series.seconds += seconds_since(begin);
}

/// A predicate for time_pairs: so many operations and seconds by the end of a round.
class Share {
 public:
  Share(Effort const& effort, int round, Series const& series)
      : m_series(series),
        m_count(effort.most_operations * std::size_t(round + 1) / rounds),
        m_end(effort.most_seconds * (round + 1) / rounds - series.seconds) {}

  bool operator()() const {
    return m_series.latencies.size() < m_count && seconds_since(m_begin) < m_end;
  }

 private:
  Series const& m_series;
  std::size_t m_count;
  double m_end;
  Clock::time_point m_begin = Clock::now();
};

}  // namespace KokkosHostSpaces::Perf

#endif
