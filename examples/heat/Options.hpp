// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_OPTIONS_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_OPTIONS_HPP

#include <array>
#include <string>

namespace Heat {

struct Options {
  int n            = 128;
  bool n_is_local  = false;  ///< n along each axis of a process's part, not of the whole grid
  int steps        = 200;
  std::string halo = "mapped";
  std::array<int, 3> grid = {0, 0, 0};
  std::string json;
  bool help        = false;
  bool plant_error = false;  ///< for tests
};

extern char const* const usage;

/// Ignores Kokkos' own flags. \throw std::invalid_argument
Options parse_options(int argc, char const* const* argv);

}  // namespace Heat

#endif
