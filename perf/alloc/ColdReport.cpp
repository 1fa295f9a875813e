// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Format.hpp"
#include "../Names.hpp"
#include "../twins/Platform.hpp"
#include "Cold.hpp"

#include <ostream>

namespace KokkosHostSpaces::Perf {

void write_allocations(std::ostream& out, std::vector<Allocation> const& results, int repetitions) {
  if (results.empty()) return;
  out << (twins_use_cuda ? "\nPage-locked memory" : "\nMemory whose pages are all there")
      << ", not initialised, each of " << repetitions
      << " repetitions (from 8 GiB on one) in a fresh process.\n"
      << "PinnedSpace keeps freed memory for its next user, as far as its limit allows.\n\n";
  out << format("%-28s %9s %12s  %-20s %10s  %s\n", "memory", "size", "allocate ms", "from to",
                "free ms", "PinnedSpace is faster by");
  for (Allocation const& r : results)
    out << format(
        "%-28s %9s %12.2f  %-20s %10.2f  %.2f%s\n", r.way.c_str(), size_name(r.bytes).c_str(),
        r.allocate_seconds.median * 1e3,
        format("%.2f to %.2f", r.allocate_seconds.minimum * 1e3, r.allocate_seconds.maximum * 1e3)
            .c_str(),
        r.free_seconds.median * 1e3, r.speedup.median,
        r.verified ? "" : "  WRONG: not page-locked, or damaged");
}

void write_allocations(Json& json, std::string const& key, std::vector<Allocation> const& results) {
  json.open('[', key);
  for (Allocation const& result : results) {
    json.open('{');
    json.value("memory", result.way);
    json.value("bytes", result.bytes);
    write(json, "allocate_seconds", result.allocate_seconds);
    write(json, "free_seconds", result.free_seconds);
    write(json, "speedup_of_pinned_space", result.speedup);
    json.value("verified", result.verified);
    json.close('}');
  }
  json.close(']');
}

}  // namespace KokkosHostSpaces::Perf
