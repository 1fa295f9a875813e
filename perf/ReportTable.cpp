// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Names.hpp"
#include "Report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr char const* about_device = R"(

pageable: HostSpace, copied to the device and back; pinned: PinnedSpace, copied likewise; mapped:
MappedSpace, used in place; resident: on the device already (below some tens of MiB in its cache).
Timed by device events behind a blocking kernel; pageable, where CUDA makes the host wait, by the
host's clock.
)";

constexpr char const* about_host = R"(

All data is host memory that is used in place, nothing is transferred: pageable is HostSpace, pinned
is PinnedSpace, mapped is MappedSpace, and the twin's arrays come from malloc.
)";

[[gnu::format(printf, 1, 2)]] std::string format(char const* pattern, ...) {
  char line[256];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(line, sizeof line, pattern, values);
  va_end(values);
  return line;
}

std::string or_unknown(std::string const& text) { return text.empty() ? "unknown" : text; }

void write_heading(std::ostream& out, Machine const& machine) {
  out << "Kokkos " << machine.kokkos_version << " beside " << twin_name << ", commit "
      << machine.commit << ", " << machine.date << '\n';
  if (twins_use_cuda) {
    out << machine.device.name << ", PCIe " << or_unknown(machine.link_speed) << " x"
        << or_unknown(machine.link_width) << ", NUMA node " << or_unknown(machine.numa_node)
        << ", driver " << or_unknown(machine.driver) << ", CUDA " << machine.device.cuda_runtime
        << ", huge pages " << or_unknown(machine.huge_pages) << about_device;
  } else {
    out << "No device: everything runs on Kokkos' host execution space "
        << machine.host_name_of_execution_space << " (" << machine.host_threads
        << " threads), huge pages " << or_unknown(machine.huge_pages) << about_host;
  }
}

void write_comparisons(std::ostream& out, std::vector<Comparison> results) {
  std::stable_sort(results.begin(), results.end(), [](Comparison const& x, Comparison const& y) {
    return std::pair(x.operation, x.bytes) < std::pair(y.operation, y.bytes);
  });
  out << format("%-10s %9s  %-9s %12s %9s %9s %7s  %-16s %s\n", "operation", "array", "data",
                "Kokkos us", "GB/s", "twin GB/s", "ratio", "quartiles", "result");
  for (Comparison const& r : results) {
    out << format("%-10s %9s  %-9s %12.2f %9.2f %9.2f %7.3f  %.3f to %.3f   ",
                  name(r.operation).c_str(), size_name(r.bytes).c_str(), name(r.transport).c_str(),
                  r.kokkos_seconds.median * 1e6, r.rate(r.kokkos_seconds.median) * 1e-9,
                  r.rate(r.twin_seconds.median) * 1e-9, r.ratio.median, r.ratio.lower_quartile,
                  r.ratio.upper_quartile)
        << (r.verified() ? std::string("verified")
                         : format("WRONG: %zu elements by Kokkos, %zu by the twin", r.wrong_kokkos,
                                  r.wrong_twin))
        << '\n';
  }
}

void write_allocations(std::ostream& out, std::vector<Allocation> const& results) {
  out << format("%-20s %9s %12s  %-20s %10s  %s\n", "memory", "size", "allocate ms", "from to",
                "free ms", "PinnedSpace is faster by");
  for (Allocation const& r : results)
    out << format(
        "%-20s %9s %12.2f  %-20s %10.2f  %.2f%s\n", r.way.c_str(), size_name(r.bytes).c_str(),
        r.allocate_seconds.median * 1e3,
        format("%.2f to %.2f", r.allocate_seconds.minimum * 1e3, r.allocate_seconds.maximum * 1e3)
            .c_str(),
        r.free_seconds.median * 1e3, r.speedup.median,
        r.page_locked ? "" : "  WRONG: the memory is not page-locked");
}

}  // namespace

void write_table(std::ostream& out, Machine const& machine, Results const& results) {
  write_heading(out, machine);
  out << "Median of " << results.repetitions
      << " repetitions, Kokkos and twin in turn. Rate: bytes of all arrays read and written by "
         "time.\n"
         "Ratio: time of the twin by time of Kokkos; 1 is equally fast, above 1 Kokkos is "
         "faster.\n\n";
  write_comparisons(out, results.comparisons);
  if (results.allocations.empty()) return;
  out << (twins_use_cuda ? "\nPage-locked memory" : "\nMemory whose pages are all there")
      << ", not initialised, each of " << results.allocation_repetitions
      << " repetitions in a fresh process.\n"
      << "PinnedSpace keeps freed memory for its next user, as far as its limit allows.\n\n";
  write_allocations(out, results.allocations);
}

}  // namespace KokkosHostSpaces::Perf
