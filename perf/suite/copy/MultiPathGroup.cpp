// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies over the links of several devices, where there are some.

#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "MultiPathPair.hpp"

namespace KokkosHostSpaces::Perf {

Cases multi_path_cases(Effort const& effort) {
  using enum MultiPathCase::Baseline;
  Cases cases;
  auto const latest = latest_memory();
  bool const quick  = effort.mode == Mode::quick;
  std::size_t most  = GiB;
  auto const add    = [&](MultiPathCase const& one, std::string const& what) {
    std::size_t const bytes = one.elements * sizeof(double);
    std::string const name  = std::string(one.baseline == loss ? "neighbour/" : "") +
                             (one.to_device ? "to_device" : "to_host") +
                             "/helpers:" + std::to_string(one.helpers) + "/baseline:" + what;
    cases.push_back({"copy/multi_path/" + name + "/bytes:" + std::to_string(bytes),
                     double(bytes) * (one.baseline == loss ? 64 : 1),
                     effort.repetitions(double(bytes) / 5e10), [=] {
                       return std::make_unique<MultiPathPair>(
                           one, latest->of<MultiPathMemory>(most / sizeof(double)));
                     }});
  };
  while (2 * most > effort.host_bytes || 2 * most > effort.device_bytes) most /= 2;
  std::vector<int> helpers;
  for (int const some : {1, 3, 7})
    if (some < effort.devices && (some == 1 || !quick)) helpers.push_back(some);
  for (int const some : helpers)
    for (bool const to_device : {true, false}) {
      for (std::size_t bytes : {MiB, 4 * MiB, 16 * MiB, 64 * MiB, GiB}) {
        if (bytes > most || (quick && bytes < 16 * MiB)) continue;
        std::size_t const elements = bytes / sizeof(double);
        add({plain, to_device, some, elements}, "plain");
        if (bytes >= 64 * MiB) add({all_links, to_device, some, elements}, "all_links");
      }
      if (!quick && most >= 64 * MiB)
        add({loss, to_device, some, 64 * MiB / sizeof(double)}, "alone");
    }
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
