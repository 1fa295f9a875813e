// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Options.hpp"

#include "../support/Arguments.hpp"
#include "Groups.hpp"

#include <cerrno>  // and program_invocation_short_name

namespace KokkosHostSpaces::Perf {

namespace {

// Google Benchmark keeps all repetitions of a benchmark in memory.
constexpr std::size_t most_repetitions = 1000000;

char const* const usage = R"([options] [--kokkos-...]
  --quick          few sizes and cases: about a minute
  --full           every size, type and space: minutes
  --groups LIST    only these groups, comma-separated
  --filter REGEX   only the benchmarks whose name has a match
  --repetitions N  of each benchmark; unless told, as many as report.py needs to compare two runs
  --list           print the names, and measure nothing
  --json FILE      also write the results to FILE, for report.py
  --version        of library, Kokkos, CUDA and compiler
Each line tells the median of Kokkos with our spaces, that of the baseline, and baseline / ours with its
quartiles. Exits with 0 if all results are right, 1 if one is wrong, 2 on an error, 4 without a GPU.
)";

}  // namespace

std::string suite_usage() {
  std::string text =
      "Usage: " + std::string(program_invocation_short_name) + " " + usage + "Groups:";
  for (Group const& group : groups()) text += " " + group.name;
  return text + "\n";
}

SuiteOptions parse_suite_options(int argc, char const* const* argv) {
  SuiteOptions options;
  Arguments arguments(argc, argv);
  while (arguments.next()) {
    std::string const& option = arguments.option();
    if (option == "--quick") {
      options.effort.mode = Mode::quick;
    } else if (option == "--full") {
      options.effort.mode = Mode::full;
    } else if (option == "--groups") {
      options.groups = arguments.values();
    } else if (option == "--filter") {
      options.filter = arguments.value();
    } else if (option == "--repetitions") {
      std::size_t const number = arguments.number();
      if (number < 1 || number > most_repetitions)
        throw UsageError("--repetitions needs at least 1, and at most " +
                         std::to_string(most_repetitions) + ": see --help");
      options.repetitions = int(number);
    } else if (option == "--list") {
      options.list = true;
    } else if (option == "--json") {
      options.json = arguments.value();
    } else if (option == "--help") {
      options.help = true;
    } else if (option == "--version") {
      options.version = true;
    } else if (option == "--plant-error") {
      options.plant_error = true;
    } else if (option == "--serve-idioms") {
      options.serve_idioms = arguments.value();
    } else {
      arguments.refuse();
    }
  }
  return options;
}

}  // namespace KokkosHostSpaces::Perf
