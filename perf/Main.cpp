// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Vector kernels on data in each memory space, every figure beside that of a plain program: see
// README.md.

#include "ExitCode.hpp"
#include "Names.hpp"
#include "Options.hpp"
#include "Report.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>

namespace KokkosHostSpaces::Perf {
namespace {

// Three arrays on either side, and some room for everybody else.
std::size_t bytes_needed(std::size_t array_bytes) { return array_bytes * 6 + array_bytes / 2; }

void fit_into_memory(Options& options) {
  std::size_t available = available_host_memory();
  if (twins_use_cuda) available = std::min(available, current_device().free_bytes);
  std::size_t const asked = options.max_bytes;
  while (options.max_bytes > 4096 && bytes_needed(options.max_bytes) > available)
    options.max_bytes /= 2;
  if (options.max_bytes != asked)
    std::cerr << "Arrays up to " << size_name(options.max_bytes) << " instead of "
              << size_name(asked) << ": there is no memory for more\n";
}

bool all_verified(Results const& results) {
  return std::ranges::all_of(results.comparisons, &Comparison::verified) &&
         std::ranges::all_of(results.allocations, &Allocation::verified);
}

ExitCode run(Options options, int argc, char** argv) {
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json)
      throw std::runtime_error("cannot write " + options.json + ": name another file by --json");
  }

  // Before this process uses the device: it may be one that serves a single process at a time.
  Results results{options.repetitions, options.allocation_repetitions, {}, {}};
  results.allocations =
      run_allocations(options.allocations, options.allocation_repetitions, {argv + 1, argv + argc});

  Kokkos::ScopeGuard const kokkos(argc, argv);
  fit_into_memory(options);
  results.comparisons   = run_comparisons(options);
  Machine const machine = describe_machine();
  write_table(std::cout, machine, results);
  if (json.is_open()) {
    write_json(json, machine, results);
    json.close();
    if (!json) throw std::runtime_error("writing " + options.json + " failed: is the disk full?");
  }
  if (all_verified(results)) return success;
  std::cerr << "A result is WRONG: see the table\n";
  return wrong_result;
}

ExitCode main(int argc, char** argv) {
  Options const options = parse_options(argc, argv);
  if (options.help) {
    std::cout << usage;
    return success;
  }
  // Kokkos gives up without a device, so ask before.
  if (std::string const reason = why_no_device(); !reason.empty()) {
    std::cerr << "Skipped: " << reason << '\n';
    return skipped;
  }
  if (options.allocation_sample == 0) return run(options, argc, argv);
  Kokkos::ScopeGuard const kokkos(argc, argv);
  sample_allocations(options.allocation_sample, "", false, std::cout);
  return success;
}

}  // namespace
}  // namespace KokkosHostSpaces::Perf

int main(int argc, char** argv) {
  try {
    return KokkosHostSpaces::Perf::main(argc, argv);
  } catch (std::exception const& error) {
    std::cerr << "kokkos_host_spaces_compare: " << error.what() << '\n';
    return KokkosHostSpaces::Perf::failure;
  }
}
