// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Format.hpp"
#include "MachineReport.hpp"
#include "Names.hpp"
#include "Report.hpp"

#include <algorithm>
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

}  // namespace

void write_table(std::ostream& out, Machine const& machine, Results const& results) {
  write_machine(out, machine);
  out << (twins_use_cuda ? about_device : about_host);
  out << "Median of " << results.repetitions
      << " repetitions, Kokkos and twin in turn. Rate: bytes of all arrays read and written by "
         "time.\n"
         "Ratio: time of the twin by time of Kokkos; 1 is equally fast, above 1 Kokkos is "
         "faster.\n\n";
  write_comparisons(out, results.comparisons);
  write_allocations(out, results.allocations, results.allocation_repetitions);
}

}  // namespace KokkosHostSpaces::Perf
