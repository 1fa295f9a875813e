// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Options.hpp"

#include "../Arguments.hpp"
#include "../twins/Platform.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {

char const* const alloc_usage = R"(Usage: kokkos_host_spaces_alloc [options] [--kokkos-...]
  --quick              up to 64 MiB, fewer repetitions: seconds in all
  --max-bytes N        largest allocation, 64 bytes at least (default 16G)
  --cases LIST         measure only these cases, comma-separated
  --list               list the cases
  --json FILE          also write the results to FILE
Sizes in bytes, or with the suffix K, M or G (powers of 1024).
)";

namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

std::vector<Case> make_cases() {
  std::vector<Case> cases = {{"cold", "the first allocation of a process, from 4 MiB on"},
                             {"warm", "allocate and free, in turn"}};
  if (twins_use_cuda) {
    cases.push_back({"busy", "the same while kernels run on 8 streams"});
    cases.push_back({"free", "free while a kernel runs"});
  }
  cases.push_back({"threads", "allocate and free, in turn, by 1, 4 and 16 threads"});
  return cases;
}

}  // namespace

std::vector<Case> const all_cases = make_cases();

bool AllocOptions::wants(std::string const& name) const {
  return std::ranges::find(cases, name) != cases.end();
}

AllocOptions parse_alloc_options(int argc, char const* const* argv) {
  AllocOptions options;
  for (Case const& each : all_cases) options.cases.push_back(each.name);
  options.effort.sizes  = {64,       KiB,       16 * KiB, 256 * KiB, 4 * MiB,
                           64 * MiB, 256 * MiB, GiB,      4 * GiB,   16 * GiB};
  std::size_t max_bytes = 16 * GiB;
  Arguments arguments(argc, argv);
  while (arguments.next()) {
    std::string const& option = arguments.option();
    if (option == "--quick") {
      max_bytes                      = 64 * MiB;
      options.effort.most_operations = 2000;
      options.effort.most_seconds    = 0.01;
      options.cold_repetitions       = 1;
    } else if (option == "--max-bytes") {
      max_bytes = arguments.size();
      if (max_bytes < 64) throw UsageError("--max-bytes is below the smallest allocation, 64");
    } else if (option == "--cases") {
      options.cases = arguments.values();
      for (std::string const& name : options.cases)
        if (std::ranges::find(all_cases, name, &Case::name) == all_cases.end())
          throw UsageError("no case \"" + name + "\" here: see --list");
    } else if (option == "--list") {
      options.list = true;
    } else if (option == "--json") {
      options.json = arguments.value();
    } else if (option == "--help") {
      options.help = true;
    } else if (option == "--allocation-sample") {
      options.allocation_sample = arguments.size();
    } else {
      arguments.refuse();
    }
  }
  std::erase_if(options.effort.sizes, [max_bytes](std::size_t bytes) { return bytes > max_bytes; });
  return options;
}

}  // namespace KokkosHostSpaces::Perf
