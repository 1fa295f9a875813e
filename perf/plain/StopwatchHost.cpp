// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Stopwatch.hpp"

#include <chrono>

namespace KokkosHostSpaces::Perf {

struct Stopwatch::State {};

Stopwatch::Stopwatch()  = default;
Stopwatch::~Stopwatch() = default;

Stream Stopwatch::stream() const { return nullptr; }
Stream Stopwatch::other_stream() const { return nullptr; }

double Stopwatch::time_queued(Work const& work) { return time_with_host_clock(work); }

double Stopwatch::time_queued_cold(Work const& work) { return time_with_host_clock(work); }

double Stopwatch::time_queued_on_both(Work const& work) { return time_with_host_clock(work); }

double Stopwatch::time_with_host_clock(Work const& work) {
  auto const begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace KokkosHostSpaces::Perf
