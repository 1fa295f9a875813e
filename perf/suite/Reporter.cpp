// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Reporter.hpp"

#include "../support/Format.hpp"
#include "../support/Statistics.hpp"

#include <iostream>
#include <stdexcept>

namespace KokkosHostSpaces::Perf {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

Run const* first_error(std::vector<Run> const& runs) {
  for (Run const& run : runs)
    if (run.skipped == benchmark::internal::SkippedWithError) return &run;
  return nullptr;
}

Summary summarize_counter(std::vector<Run> const& runs, char const* name) {
  std::vector<double> values;
  for (Run const& run : runs) values.push_back(run.counters.at(name));
  return summarize(values);
}

std::string time_name(double seconds) {
  if (seconds < 1e-3) return format("%.3f us", seconds * 1e6);
  if (seconds < 1) return format("%.3f ms", seconds * 1e3);
  return format("%.3f s", seconds);
}

std::string rate_name(double bytes, double seconds) {
  return bytes == 0 ? "" : format("%.2f GB/s", bytes / seconds * 1e-9);
}

}  // namespace

Reporter::Reporter(int benchmarks, bool writes, std::string const& json_file)
    : m_benchmarks(benchmarks), m_writes(writes), m_json_file(writes ? json_file : "") {
  m_json.SetOutputStream(&m_file);
  if (!m_json_file.empty()) m_file.open(m_json_file);
}

bool Reporter::ReportContext(Context const& context) {
  if (m_file.is_open()) m_json.ReportContext(context);
  check_file();
  m_begin = std::chrono::steady_clock::now();
  if (!m_writes) return true;
  GetOutputStream() << format("%-91s %12s %14s %12s  %s\n", "", "ours", "", "baseline",
                              "baseline/ours (quartiles)");
  return true;
}

void Reporter::ReportRuns(std::vector<Run> const& runs) {
  if (m_file.is_open()) m_json.ReportRuns(runs);
  write_line(runs);
}

void Reporter::Finalize() {
  if (m_file.is_open()) m_json.Finalize();
}

void Reporter::close() {
  if (m_done != m_benchmarks)
    throw std::runtime_error(std::to_string(m_benchmarks - m_done) + " of " +
                             std::to_string(m_benchmarks) +
                             " benchmarks were not run: is a variable BENCHMARK_* set?");
  check_file();
}

// Also check at the beginning: results of an hour would be lost.
void Reporter::check_file() {
  if (!m_json_file.empty() && !m_file.flush())
    throw std::runtime_error("cannot write all to " + m_json_file + ": is the disk full?");
}

void Reporter::write_line(std::vector<Run> const& runs) {
  if (runs.empty() || runs.front().run_type == Run::RT_Aggregate) return;
  Run const* const error = first_error(runs);
  m_wrong += error != nullptr;
  ++m_done;
  if (!m_writes) return;
  std::ostream& out = GetOutputStream();
  out << progress();
  std::string const name = runs.front().run_name.function_name;
  if (error != nullptr) {
    out << name << ": ERROR: " << error->report_label << error->skip_message << std::endl;
    return;
  }
  std::vector<double> seconds;
  for (Run const& run : runs) seconds.push_back(run.real_accumulated_time);
  double const ours      = summarize(seconds).median;
  Summary const baseline = summarize_counter(runs, "baseline_seconds");
  Summary const ratio    = summarize_counter(runs, "ratio");
  double const bytes     = runs.front().counters.at("bytes");
  m_results.push_back({name, bytes, ours, ratio.median});
  out << format("%-66s %12s %14s %12s  %.3f (%.3f to %.3f) %s", name.c_str(),
                time_name(ours).c_str(), rate_name(bytes, ours).c_str(),
                time_name(baseline.median).c_str(), ratio.median, ratio.lower_quartile,
                ratio.upper_quartile, runs.front().report_label.c_str())
      << std::endl;
}

std::string Reporter::progress() const {
  std::chrono::duration<double> const so_far = std::chrono::steady_clock::now() - m_begin;
  double const left                          = so_far.count() / m_done * (m_benchmarks - m_done);
  return format("[%*d/%d, %6s left] ", int(std::to_string(m_benchmarks).size()), m_done,
                m_benchmarks, duration_name(left).c_str());
}

}  // namespace KokkosHostSpaces::Perf
