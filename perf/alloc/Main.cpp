// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What it costs to make and to free page-locked memory, beside the ways that CUDA offers: see
// ../README.md.

#include "../Arguments.hpp"
#include "../ExitCode.hpp"
#include "Options.hpp"
#include "Report.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace KokkosHostSpaces::Perf {
namespace {

bool all_verified(AllocResults const& results) {
  return std::ranges::all_of(results.cold, &Allocation::verified) &&
         std::ranges::all_of(results.latencies, &Latency::verified);
}

std::vector<Allocation> run_cold(AllocOptions const& options, int argc, char** argv) {
  constexpr std::size_t smallest_cold = std::size_t(2) << 20;
  std::vector<std::size_t> sizes      = options.effort.sizes;
  std::erase_if(sizes, [](std::size_t bytes) { return bytes < smallest_cold; });
  return run_allocations(sizes, options.cold_repetitions, {argv + 1, argv + argc});
}

std::vector<Latency> run_latencies(AllocOptions const& options) {
  std::vector<Latency> results;
  auto const run = [&](char const* name, std::vector<Latency> (*measure)(Effort const&)) {
    if (!options.wants(name)) return;
    std::vector<Latency> const measured = measure(options.effort);
    results.insert(results.end(), measured.begin(), measured.end());
  };
  run("warm", run_warm);
#ifdef KOKKOS_ENABLE_CUDA
  run("busy", run_busy);
  run("free", run_free);
#endif
  run("threads", run_threads);
  return results;
}

ExitCode run(AllocOptions const& options, int argc, char** argv) {
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json)
      throw std::runtime_error("cannot write " + options.json + ": name another file by --json");
  }

  // Before this process uses the device: it may be one that serves a single process at a time.
  AllocResults results{options.cold_repetitions, {}, {}};
  if (options.wants("cold")) results.cold = run_cold(options, argc, argv);

  Kokkos::ScopeGuard const kokkos(argc, argv);
  results.latencies     = run_latencies(options);
  Machine const machine = describe_machine();
  write_table(std::cout, machine, results);
  if (json.is_open()) {
    write_json(json, machine, results);
    json.close();
    if (!json) throw std::runtime_error("writing " + options.json + " failed: is the disk full?");
  }
  if (all_verified(results)) return success;
  std::cerr << "An allocation is WRONG: see the table\n";
  return wrong_result;
}

ExitCode main(int argc, char** argv) {
  AllocOptions const options = parse_alloc_options(argc, argv);
  if (options.help) {
    std::cout << alloc_usage;
    return success;
  }
  if (options.list) {
    for (Case const& each : all_cases) std::cout << each.name << ": " << each.what << '\n';
    return success;
  }
  // By default CUDA has 8 queues for all streams: what uses a ninth beside 8 running kernels would
  // wait for one of them.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  // Kokkos gives up without a device, so ask before.
  if (std::string const reason = why_no_device(); !reason.empty()) {
    std::cerr << "Skipped: " << reason << '\n';
    return skipped;
  }
  if (options.allocation_sample == 0) return run(options, argc, argv);
  Kokkos::ScopeGuard const kokkos(argc, argv);
  sample_allocations(options.allocation_sample, std::cout);
  return success;
}

}  // namespace
}  // namespace KokkosHostSpaces::Perf

int main(int argc, char** argv) {
  try {
    return KokkosHostSpaces::Perf::main(argc, argv);
  } catch (std::exception const& error) {
    std::cerr << "kokkos_host_spaces_alloc: " << error.what() << '\n';
    return KokkosHostSpaces::Perf::failure;
  }
}
