// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Test data for copies, and the median time of repetitions.

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_NUMBERS_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_NUMBERS_HPP

#include "../support/Statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// A number that differs at each place, so that a shifted or stale copy is noticed.
inline std::uint64_t number_at(std::size_t i) { return (i + 1) * 0x9e3779b97f4a7c15u; }

/// Writes the numbers. \return their sum modulo 2^64
inline std::uint64_t fill(std::uint64_t* numbers, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += numbers[i] = number_at(i);
  return sum;
}

/// A value that fill never writes.
inline void poison(std::uint64_t* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) numbers[i] = ~number_at(i);
}

inline bool matches(std::uint64_t const* numbers, std::size_t count) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < count; ++i) differing += numbers[i] != number_at(i);
  return differing == 0;
}

/// Calls time_once(), which returns the seconds of one repetition, until their sum reaches `seconds`; at
/// least once.
template <class TimeOnce>
double median_time(double seconds, TimeOnce time_once) {
  std::vector<double> times;
  for (double total = 0; times.empty() || total < seconds; total += times.back())
    times.push_back(time_once());
  return summarize(times).median;
}

}  // namespace KokkosHostSpaces::Perf

#endif
