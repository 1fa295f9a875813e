// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_EFFORT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_EFFORT_HPP

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Perf {

inline constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// How much is measured: quick what acceptance is judged by and little more, full every size and
/// type.
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

  /// Devices that a rank may use: all, if there is no other rank.
  int devices = 1;

  /// Repetitions of a sample that takes `seconds`, about. With 21 in two runs a test on ranks sees a
  /// change of 10 % among hundreds of benchmarks although a few samples were disturbed, with 5 only
  /// among a few benchmarks.
  int repetitions(double seconds) const { return seconds < 0.02 ? 21 : seconds < 0.2 ? 15 : 5; }
};

}  // namespace KokkosHostSpaces::Perf

#endif
