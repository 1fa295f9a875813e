// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Report.hpp"

#include <cinttypes>
#include <fstream>
#include <stdexcept>

namespace Heat {

void print(Report const& report) {
  Index3 const n = report.decomposition.global(), grid = report.decomposition.processes();
  Timings const& t      = report.timings;
  Verification const& v = report.verification;
  std::printf("%d x %d x %d cells on %d x %d x %d processes (%s), %s halo of %.0f KiB a process\n",
              n[0], n[1], n[2], grid[0], grid[1], grid[2], Device::name(),
              report.options.halo.c_str(), report.largest_halo / 1024);
  std::printf("  %.3f ms a step: %.3f Gcells/s\n", 1e3 * t.step, 1e-9 * report.cells() / t.step);
  std::printf("  %.3f ms to compute only, %.3f ms to exchange only: %.3f ms are not hidden\n",
              1e3 * t.compute_only, 1e3 * t.exchange_only, 1e3 * t.exposed());
  std::printf(
      "  error %.2e (at most %.2e) to the discrete solution, %.2e (%.2e) to the exact one\n",
      v.discrete_error, v.discrete_bound, v.exact_error, v.exact_bound);
  std::printf("  checksum %016" PRIx64 "\n", v.checksum);
  std::printf("%s\n", v.passed() ? "PASSED: the result is right" : "FAILED: the result is WRONG");
}

void write_json(Report const& report, std::string const& file) {
  auto const list = [](Index3 const& values) {
    return "[" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
           std::to_string(values[2]) + "]";
  };
  Timings const& t      = report.timings;
  Verification const& v = report.verification;
  char checksum[17];
  std::snprintf(checksum, sizeof checksum, "%016" PRIx64, v.checksum);

  std::ofstream out(file);
  out.precision(17);
  out << "{\"backend\": \"" << Device::name() << "\", \"halo\": \"" << report.options.halo
      << "\",\n \"mode\": \"" << (report.options.n_is_local ? "weak" : "strong")
      << "\", \"n\": " << report.options.n << ", \"steps\": " << report.options.steps
      << ", \"processes\": " << report.processes
      << ", \"grid\": " << list(report.decomposition.processes())
      << ", \"cells\": " << list(report.decomposition.global())
      << ",\n \"halo_bytes\": " << report.largest_halo << ", \"step_seconds\": " << t.step
      << ", \"compute_seconds\": " << t.compute_only
      << ", \"exchange_seconds\": " << t.exchange_only << ", \"exposed_seconds\": " << t.exposed()
      << ",\n \"cells_per_second\": " << report.cells() / t.step
      << ",\n \"discrete_error\": " << v.discrete_error
      << ", \"discrete_bound\": " << v.discrete_bound << ", \"exact_error\": " << v.exact_error
      << ", \"exact_bound\": " << v.exact_bound << ",\n \"checksum\": \"" << checksum
      << "\", \"passed\": " << (v.passed() ? "true" : "false") << "}\n";
  out.close();
  if (!out) throw std::runtime_error("writing " + file + " failed: name another file by --json");
}

}  // namespace Heat
