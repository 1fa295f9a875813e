// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../support/Arguments.hpp"
#include "../support/System.hpp"
#include "../support/Machine.hpp"
#include "../plain/Platform.hpp"
#include "Context.hpp"
#include "Groups.hpp"
#include "Options.hpp"
#include "Ranks.hpp"
#include "Reporter.hpp"
#include "Runner.hpp"

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cerrno>  // and program_invocation_short_name
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>

namespace KokkosHostSpaces::Perf {
namespace {

Cases chosen_cases(SuiteOptions const& options) {
  for (std::string const& wanted : options.groups)
    if (std::ranges::none_of(groups(), [&](Group const& group) { return group.name == wanted; }))
      throw UsageError("unknown group " + wanted + ": see --help");
  std::regex filter;
  try {
    filter = options.filter;
  } catch (std::regex_error const& error) {
    throw UsageError("bad regular expression \"" + options.filter + "\" (" + error.what() + ")");
  }
  Cases chosen;
  for (Group const& group : groups()) {
    if (!options.groups.empty() &&
        std::ranges::find(options.groups, group.name) == options.groups.end())
      continue;
    for (Case& each : group.cases(options.effort))
      if (std::regex_search(each.name, filter)) {
        if (options.repetitions > 0) each.repetitions = options.repetitions;
        chosen.push_back(std::move(each));
      }
  }
  if (chosen.empty()) throw UsageError("no benchmark has this name: see --list");
  return chosen;
}

void initialize_benchmark() {
  int count        = 1;
  char* argument[] = {program_invocation_short_name, nullptr};  // it keeps the pointer
  benchmark::Initialize(&count, argument);
}

// Set the same limits on all ranks, so that all choose the same cases.
void share_memory(Effort& effort, Ranks const& ranks) {
  std::size_t const available =
      meminfo_entry(text_of("/proc/meminfo"), "MemAvailable").value_or(std::size_t(1) << 62);
  effort.device_bytes = std::size_t(ranks.least(double(free_device_memory())));
  effort.host_bytes   = std::size_t(ranks.least(double(available) / ranks.local_size()));
  effort.devices      = ranks.size() > 1 ? 1 : int(list_devices().size());
}

int measure(SuiteOptions options, Ranks const& ranks, std::string const& cores) {
  share_memory(options.effort, ranks);
  Cases cases     = chosen_cases(options);
  int const count = int(cases.size());
  if (options.list) {
    if (ranks.rank() == 0)
      for (Case const& each : cases) std::cout << each.name << '\n';
    return success;
  }
  if (ranks.rank() == 0 && build_facts().back().second == "no")
    std::cerr
        << "WARNING: this suite was built without optimisation: its figures say nothing about speed "
           "(configure with -DCMAKE_BUILD_TYPE=Release, without -O0 in the flags)\n";
  initialize_benchmark();
  describe_context(options, ranks, cores);
  // Free the memory of the benchmarks before Kokkos is finalised.
  struct Registered {
    ~Registered() {
      benchmark::ClearRegisteredBenchmarks();
      benchmark::Shutdown();
    }
  } const registered;
  register_cases(std::move(cases), ranks, options.plant_error);
  Reporter reporter(count, ranks.rank() == 0, options.json);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.close();
  int const wrong = reporter.wrong();
  if (ranks.rank() == 0) {
    write_summary(std::cout, reporter.results());
    if (wrong > 0)
      std::cerr << wrong << " of " << count << " benchmarks failed (see ERROR above)\n";
  }
  return wrong == 0 ? success : wrong_result;
}

int run(int argc, char** argv) {
  SuiteOptions const options = parse_suite_options(argc, argv);
  if (options.help) {
    std::cout << suite_usage();
    return success;
  }
  if (options.version) {
    std::cout << version_text();
    return success;
  }
  // CUDA has 8 hardware queues by default: work on a ninth stream would wait for one of 8 running kernels.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  std::string const why_not = why_no_device();
  if (!why_not.empty()) {
    std::cerr << "Skipped: no GPU can be used (" << why_not << ")\n";
    return skipped;
  }
  if (!options.serve_idioms.empty()) {  // started by a rank, and no rank itself
    Kokkos::ScopeGuard const kokkos(argc, argv);
    serve_adopted_idioms(options.serve_idioms, std::cout);
    return success;
  }
  // Check this before ranks wait for each other; Google Benchmark would exit with 1.
  if (!options.json.empty() && !std::ofstream(options.json, std::ios::app))
    throw UsageError("cannot write " + options.json + ": check the folder and its permissions");
  Ranks const ranks(&argc, &argv);
  try {
    std::string const cores = bind_to_cores(ranks);
    // Kokkos distributes the devices of a node over its ranks, by the variables of the launcher.
    Kokkos::ScopeGuard const kokkos(argc, argv);
    return measure(options, ranks, cores);
  } catch (UsageError const&) {
    throw;  // all ranks throw it
  } catch (std::exception const& error) {
    if (ranks.size() > 1) ranks.abort(error.what());
    throw;
  }
}

}  // namespace
}  // namespace KokkosHostSpaces::Perf

int main(int argc, char* argv[]) {
  return KokkosHostSpaces::Perf::exit_code_of(KokkosHostSpaces::Perf::run, argc, argv);
}
