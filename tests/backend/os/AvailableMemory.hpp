// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_AVAILABLE_MEMORY_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_AVAILABLE_MEMORY_HPP

#include <cstddef>
#include <fstream>
#include <string>

/// The number behind a name in a file of /proc, or 0.
inline std::size_t figure_in(char const* file_name, std::string const& name) {
  std::ifstream file(file_name);
  std::size_t figure = 0;
  for (std::string word; file >> word;)
    if (word == name && file >> figure) break;
  return figure;
}

/// Bytes that the machine has left.
inline std::size_t available_memory() { return figure_in("/proc/meminfo", "MemAvailable:") << 10; }

#endif
