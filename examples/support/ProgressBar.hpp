// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_PROGRESS_BAR_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_PROGRESS_BAR_HPP

#include <cstddef>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace Example {

// A bar that redraws itself on a terminal, else a line for every quarter.
class ProgressBar {
 public:
  void show(double fraction) {
    int const percent = int(100 * fraction);
    if (m_on_terminal) {
      std::string bar(std::size_t(percent / 2), '#');
      bar.resize(50, '.');
      std::fprintf(stderr, "\r[%s] %3d %%%s", bar.c_str(), percent, percent == 100 ? "\n" : "");
    } else if (percent / 25 > m_quarters) {
      m_quarters = percent / 25;
      std::fprintf(stderr, "%3d %% done\n", percent);
    }
  }

 private:
  bool m_on_terminal = ::isatty(STDERR_FILENO) == 1;
  int m_quarters     = -1;
};

}  // namespace Example

#endif
