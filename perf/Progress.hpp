// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PROGRESS_HPP
#define KOKKOS_HOST_SPACES_PERF_PROGRESS_HPP

#include <unistd.h>

#include <cstdio>
#include <string>

namespace KokkosHostSpaces::Perf {

/// One line on stderr that tells what is being measured; silent where stderr is not a terminal.
class Progress {
 public:
  explicit Progress(int steps) : m_steps(steps) {}
  ~Progress() {
    if (m_terminal) std::fputs("\r\033[K", stderr);
  }
  Progress(Progress const&)            = delete;
  Progress& operator=(Progress const&) = delete;

  void step(std::string const& what) {
    ++m_step;
    if (m_terminal) std::fprintf(stderr, "\r\033[K[%d/%d] %s", m_step, m_steps, what.c_str());
  }

 private:
  bool m_terminal = isatty(STDERR_FILENO) != 0;
  int m_steps;
  int m_step = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
