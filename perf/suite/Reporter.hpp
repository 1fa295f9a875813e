// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_REPORTER_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_REPORTER_HPP

#include "Pair.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <fstream>

namespace KokkosHostSpaces::Perf {

/// Writes a line for each benchmark (progress, expected time left, medians of both sides, ratio with
/// quartiles), and all figures as JSON to a file if one is named. On ranks that do not write it counts errors.
/// All functions \throw std::runtime_error if the output cannot be written.
class Reporter final : public benchmark::BenchmarkReporter {
 public:
  Reporter(int benchmarks, bool writes, std::string const& json_file);

  bool ReportContext(Context const& context) override;
  void ReportRuns(std::vector<Run> const& runs) override;
  void Finalize() override;

  /// Completes the file. Call it after the last benchmark.
  void close();

  int wrong() const { return m_wrong; }
  std::vector<Result> const& results() const { return m_results; }

 private:
  void write_line(std::vector<Run> const& runs);
  std::string progress() const;
  void check_file();

  int m_benchmarks, m_done = 0, m_wrong = 0;
  bool m_writes;
  std::chrono::steady_clock::time_point m_begin;
  std::string m_json_file;
  std::ofstream m_file;
  benchmark::JSONReporter m_json;
  std::vector<Result> m_results;
};

}  // namespace KokkosHostSpaces::Perf

#endif
