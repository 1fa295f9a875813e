// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Options.hpp"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace Heat {

char const* const usage = R"(Usage: [mpirun -n P] heat [options] [--kokkos-...]
  --n N            cells along each axis of the whole grid (default 128)
  --n-local N      cells along each axis of the part of one process, instead of --n
  --steps N        time steps (default 200)
  --halo SPACE     memory that the halo goes through: mapped (default) or pinned; of stock Kokkos
                   pageable or, with CUDA, cuda_pinned
  --grid X,Y,Z     processes along each axis; 0, the default, is chosen
  --json FILE      write figures to FILE
Exit code: 0 if the result is right, 1 if it is wrong, 2 on an error, 4 if there is no GPU.
)";

namespace {

int integer(std::string const& option, std::string const& text, int least) {
  int value             = 0;
  auto const [end, err] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (err != std::errc() || end != text.data() + text.size() || value < least)
    throw std::invalid_argument("bad value \"" + text + "\" of " + option + " (a number from " +
                                std::to_string(least) + " on is needed): see --help");
  return value;
}

std::array<int, 3> grid(std::string const& option, std::string const& text) {
  std::array<int, 3> result{};
  std::istringstream list(text);
  for (int& processes : result) {
    std::string item;
    std::getline(list, item, ',');
    processes = integer(option, item, 0);
  }
  if (list.good()) throw std::invalid_argument(option + " takes three numbers: see --help");
  return result;
}

}  // namespace

Options parse_options(int argc, char const* const* argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string const option = argv[i];
    auto const value         = [&]() -> std::string {
      if (i + 1 >= argc) throw std::invalid_argument(option + " needs a value: see --help");
      return argv[++i];
    };
    if (option == "--n" || option == "--n-local") {
      options.n          = integer(option, value(), 8);
      options.n_is_local = option == "--n-local";
    } else if (option == "--steps") {
      options.steps = integer(option, value(), 1);
    } else if (option == "--halo") {
      options.halo = value();
    } else if (option == "--grid") {
      options.grid = grid(option, value());
    } else if (option == "--json") {
      options.json = value();
    } else if (option == "--help") {
      options.help = true;
    } else if (option == "--plant-error") {
      options.plant_error = true;
    } else if (!option.starts_with("--kokkos-")) {
      throw std::invalid_argument("unknown option " + option + ": see --help");
    }
  }
  if (options.halo != "mapped" && options.halo != "pinned" && options.halo != "pageable" &&
      options.halo != "cuda_pinned")
    throw std::invalid_argument("--halo " + options.halo + " is unknown: see --help");
  return options;
}

}  // namespace Heat
