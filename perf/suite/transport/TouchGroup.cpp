// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The part of the group transport that reads a fraction of the data, in place or staged.

#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "TouchPair.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

template <class Space>
void add_reads(std::string const& name, Effort const& effort, Cases& cases) {
  bool const quick  = effort.mode == Mode::quick;
  std::size_t bytes = (quick ? 16 : 256) * MiB;
  while (4 * bytes > effort.host_bytes || (runs_on_device && 2 * bytes > effort.device_bytes))
    bytes /= 2;
  std::vector<std::string> const fractions =
      quick ? std::vector<std::string>{"0.01", "1"}
            : std::vector<std::string>{"0.001", "0.01", "0.1", "0.5", "1"};
  for (std::string const& text : fractions)
    for (int passes : quick ? std::vector{1, 4} : std::vector{1, 2, 4, 8}) {
      double const fraction = std::stod(text);
      double const used     = fraction * double(bytes) * passes;
      double const moved    = std::is_same_v<Space, PinnedSpace> ? double(bytes) : used;
      cases.push_back(
          {"transport/read/" + name + "/fraction:" + text + "/passes:" + std::to_string(passes),
           used, effort.repetitions(moved / (runs_on_device ? 5e10 : 5e9)),
           [=, latest = latest_memory()] {
             return std::make_unique<TouchPair<Space>>(
                 fraction, passes, latest->of<TouchMemory<Space>>(bytes / sizeof(double)));
           }});
    }
}

}  // namespace

Cases touch_cases(Effort const& effort) {
  Cases cases;
  add_reads<MappedSpace>("MappedSpace", effort, cases);
  add_reads<PinnedSpace>("PinnedSpace/staged", effort, cases);
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
