// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_EFFORT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_EFFORT_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Perf {

/// How much is measured: quick in under a minute, full every size and type.
enum class Mode { quick, standard, full };

inline std::string name(Mode mode) {
  switch (mode) {
    case Mode::quick: return "quick";
    case Mode::standard: return "default";
    case Mode::full: break;
  }
  return "full";
}

struct Effort {
  Mode mode = Mode::standard;

  /// Memory that a rank may use, of the device and of its share of the host.
  std::size_t device_bytes = 0, host_bytes = 0;

  /// Repetitions of a sample that takes `seconds`, about. Of two runs with 9 a test on ranks can be
  /// sure of a change among a thousand benchmarks; with 15 also where one or two were disturbed; with
  /// 5 among a few.
  int repetitions(double seconds) const { return seconds < 0.02 ? 15 : seconds < 0.2 ? 9 : 5; }
};

}  // namespace KokkosHostSpaces::Perf

#endif
