// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Options.hpp"

#include "Arguments.hpp"

namespace KokkosHostSpaces::Perf {

char const* const usage = R"(Usage: kokkos_host_spaces_compare [options] [--kokkos-...]
  --quick              arrays up to 16 MiB, allocations of 64 MiB, fewer repetitions: seconds in all
  --max-bytes N        largest array, 4 KiB at least (default 1G)
  --allocations LIST   sizes to allocate, comma-separated, or "none" (default 256M,4G)
  --repetitions N      timed repetitions of each measurement (default 11)
  --json FILE          also write the results to FILE
Sizes in bytes, or with the suffix K, M or G (powers of 1024).
)";

Options parse_options(int argc, char const* const* argv) {
  Options options;
  Arguments arguments(argc, argv);
  while (arguments.next()) {
    std::string const& option = arguments.option();
    if (option == "--quick") {
      options.max_bytes              = std::size_t(16) << 20;
      options.allocations            = {std::size_t(64) << 20};
      options.repetitions            = 5;
      options.allocation_repetitions = 2;
    } else if (option == "--max-bytes") {
      options.max_bytes = arguments.size();
      if (options.max_bytes < 4096) throw UsageError("--max-bytes is below the smallest array, 4K");
    } else if (option == "--allocations") {
      options.allocations = arguments.sizes();
    } else if (option == "--repetitions") {
      options.repetitions = arguments.count();
    } else if (option == "--json") {
      options.json = arguments.value();
    } else if (option == "--help") {
      options.help = true;
    } else if (option == "--plant-error") {
      options.plant_error = true;
    } else if (option == "--allocation-sample") {
      options.allocation_sample = arguments.size();
    } else {
      arguments.refuse();
    }
  }
  return options;
}

}  // namespace KokkosHostSpaces::Perf
