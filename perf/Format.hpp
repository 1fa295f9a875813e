// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_FORMAT_HPP
#define KOKKOS_HOST_SPACES_PERF_FORMAT_HPP

#include <cstdarg>
#include <cstdio>
#include <string>

namespace KokkosHostSpaces::Perf {

/// One line of a table, at most 255 characters.
[[gnu::format(printf, 1, 2)]] inline std::string format(char const* pattern, ...) {
  char line[256];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(line, sizeof line, pattern, values);
  va_end(values);
  return line;
}

}  // namespace KokkosHostSpaces::Perf

#endif
