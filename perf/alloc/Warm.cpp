// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Machine.hpp"
#include "../Names.hpp"
#include "../Progress.hpp"
#include "Series.hpp"

#include <iostream>

namespace KokkosHostSpaces::Perf {
namespace {

// A way that keeps nothing costs beyond this size what it costs when cold.
constexpr std::size_t most_uncached_bytes = std::size_t(1) << 30;

// Three ways keep a block.
std::size_t bytes_needed(std::size_t bytes) { return 3 * bytes + bytes / 2; }

}  // namespace

std::vector<Latency> run_warm(Effort const& effort) {
  std::vector<Latency> results;
  Progress progress(int(effort.sizes.size()));
  for (std::size_t bytes : effort.sizes) {
    progress.step("warm, " + size_name(bytes));
    if (available_host_memory() < bytes_needed(bytes)) {
      std::cerr << "Left out warm allocations of " << size_name(bytes) << ": only "
                << available_host_memory() / (1 << 20) << " MiB of memory are available\n";
      continue;
    }
    AllSeries all;
    for (int round = 0; round < rounds; ++round) {
      for_each_way([&](WayInfo const& info, auto const& way) {
        if (!info.caches && bytes > most_uncached_bytes) return;
        if (info.caches) (void)way(bytes);  // from here on it is warm
        Series& series = all.of(info.name);
        time_pairs(
            way, [bytes] { return bytes; }, Share(effort, round, series), series);
      });
    }
    all.report(Situation::warm, bytes, 1, results);
    forget_kept_memory();
  }
  return results;
}

}  // namespace KokkosHostSpaces::Perf
