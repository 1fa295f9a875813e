// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_PROGRESS_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_PROGRESS_HPP

#include <Kokkos_Timer.hpp>

#include <cstdio>

namespace Heat {

/// A line on the terminal, rewritten ten times a second.
class Progress {
 public:
  Progress(bool shown, int steps, double cells) : m_shown(shown), m_steps(steps), m_cells(cells) {}
  ~Progress() {
    if (m_shown) std::fputs("\r\033[K", stderr);
  }
  Progress(Progress const&)            = delete;
  Progress& operator=(Progress const&) = delete;

  void show(int step) {
    if (!m_shown || m_timer.seconds() < m_next) return;
    double const now = m_timer.seconds();
    m_next           = now + 0.1;
    std::fprintf(stderr, "\r\033[Kstep %d of %d, %.3f Gcells/s", step, m_steps,
                 1e-9 * m_cells * step / now);
  }

 private:
  bool m_shown;
  int m_steps;
  double m_cells;
  double m_next = 0;
  Kokkos::Timer m_timer;
};

}  // namespace Heat

#endif
