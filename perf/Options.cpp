// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Options.hpp"

#include <charconv>
#include <sstream>

namespace KokkosHostSpaces::Perf {

char const* const usage = R"(Usage: kokkos_host_spaces_compare [options] [--kokkos-...]
  --quick              arrays up to 16 MiB, allocations of 64 MiB, fewer repetitions: seconds in all
  --max-bytes N        largest array, 4 KiB at least (default 1G)
  --allocations LIST   sizes to allocate, comma-separated, or "none" (default 256M,4G)
  --repetitions N      timed repetitions of each measurement (default 11)
  --json FILE          also write the results to FILE
Sizes in bytes, or with the suffix K, M or G (powers of 1024).
)";

namespace {

template <class Integer>
Integer positive(std::string const& option, std::string const& text, Integer unit = 1) {
  Integer value         = 0;
  auto const [end, err] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (err != std::errc() || end != text.data() + text.size() || value <= 0 ||
      value > (Integer(1) << (8 * sizeof(Integer) - 2)) / unit)
    throw UsageError("bad value \"" + text + "\" of " + option +
                     " (not a positive number): see --help");
  return value * unit;
}

std::size_t size(std::string const& option, std::string text) {
  std::size_t unit = 1;
  if (!text.empty()) {
    std::size_t const suffix = std::string("KMG").find(text.back());
    if (suffix != std::string::npos) {
      unit = std::size_t(1) << (10 * (suffix + 1));
      text.pop_back();
    }
  }
  return positive<std::size_t>(option, text, unit);
}

std::vector<std::size_t> sizes(std::string const& option, std::string const& text) {
  std::vector<std::size_t> result;
  if (text == "none") return result;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) result.push_back(size(option, item));
  return result;
}

}  // namespace

Options parse_options(int argc, char const* const* argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string const option = argv[i];
    auto const value         = [&]() -> std::string {
      if (i + 1 == argc) throw UsageError(option + " needs a value: see --help");
      return argv[++i];
    };
    if (option == "--quick") {
      options.max_bytes              = std::size_t(16) << 20;
      options.allocations            = {std::size_t(64) << 20};
      options.repetitions            = 5;
      options.allocation_repetitions = 2;
    } else if (option == "--max-bytes") {
      options.max_bytes = size(option, value());
      if (options.max_bytes < 4096) throw UsageError("--max-bytes is below the smallest array, 4K");
    } else if (option == "--allocations") {
      options.allocations = sizes(option, value());
    } else if (option == "--repetitions") {
      options.repetitions = positive<int>(option, value());
    } else if (option == "--json") {
      options.json = value();
    } else if (option == "--help") {
      options.help = true;
    } else if (option == "--plant-error") {
      options.plant_error = true;
    } else if (option == "--allocation-sample") {
      options.allocation_sample = size(option, value());
    } else if (!option.starts_with("--kokkos-")) {
      throw UsageError("unknown option " + option + ": see --help");
    }
  }
  return options;
}

}  // namespace KokkosHostSpaces::Perf
