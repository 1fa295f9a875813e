// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_EFFORT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_EFFORT_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Perf {

inline constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// How much is measured: quick has what acceptance is judged by and little more, full has every size
/// and type.
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

  /// Bytes that a rank may use on its device and on the host.
  std::size_t device_bytes = 0, host_bytes = 0;

  /// Devices that a rank may use: all of them if it is the only rank.
  int devices = 1;

  /// Repetitions of a sample that takes about `seconds`. 21 of them let `report.py compare` see a change
  /// of 10 % among hundreds of benchmarks; 5 suffice among a few.
  int repetitions(double seconds) const { return seconds < 0.02 ? 21 : seconds < 0.2 ? 15 : 5; }
};

}  // namespace KokkosHostSpaces::Perf

#endif
