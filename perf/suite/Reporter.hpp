// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_REPORTER_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_REPORTER_HPP

#include "Pair.hpp"

#include <benchmark/benchmark.h>

namespace KokkosHostSpaces::Perf {

/// One line for each benchmark: medians of both ways, their ratio with quartiles.
class Reporter final : public benchmark::BenchmarkReporter {
 public:
  explicit Reporter(int benchmarks) : m_benchmarks(benchmarks) {}

  bool ReportContext(Context const&) override;
  void ReportRuns(std::vector<Run> const& runs) override;

  int wrong() const { return m_wrong; }
  std::vector<Result> const& results() const { return m_results; }

 private:
  int m_benchmarks, m_done = 0, m_wrong = 0;
  std::vector<Result> m_results;
};

/// For the ranks that do not report.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const& runs) override;

  int wrong() const { return m_wrong; }

 private:
  int m_wrong = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
