// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_REPORTER_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_REPORTER_HPP

#include "Pair.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <fstream>

namespace KokkosHostSpaces::Perf {

/// One line for each benchmark: how many are done, what time is left if the others take as long,
/// medians of both ways, their ratio with quartiles. And all figures as
/// JSON, into a file if one is named. All throw std::runtime_error if it cannot be written.
class Reporter final : public benchmark::BenchmarkReporter {
 public:
  Reporter(int benchmarks, std::string const& json_file);

  bool ReportContext(Context const& context) override;
  void ReportRuns(std::vector<Run> const& runs) override;
  void Finalize() override;

  /// To be called at the end.
  void close();

  int wrong() const { return m_wrong; }
  std::vector<Result> const& results() const { return m_results; }

 private:
  void write_line(std::vector<Run> const& runs);
  std::string progress();
  void check_file();

  int m_benchmarks, m_done = 0, m_wrong = 0;
  std::chrono::steady_clock::time_point m_begin;
  std::string m_json_file;
  std::ofstream m_file;
  benchmark::JSONReporter m_json;
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
