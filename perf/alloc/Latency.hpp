// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_ALLOC_LATENCY_HPP
#define KOKKOS_HOST_SPACES_PERF_ALLOC_LATENCY_HPP

#include "../Statistics.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// What was going on when latencies were measured.
enum class Situation {
  warm,     ///< allocate and free, in turn, by one thread; the device is idle
  busy,     ///< the same while kernels run on 8 streams
  free,     ///< only free, while a kernel runs that began after the allocation
  threads,  ///< allocate and free, in turn, by several threads, with random sizes
};

/// Latencies of one way.
struct Latency {
  Situation situation;
  std::string way;
  std::size_t bytes;  ///< the largest, if sizes are random
  int threads;
  Distribution seconds;
  double speedup;  ///< p50 of this way / p50 of PinnedSpace
  bool verified;   ///< page-locked, and the ends of every block keep what is written
};

/// How much to measure. Of each way as many operations as fit into the time, and at least one.
struct Effort {
  std::vector<std::size_t> sizes;
  std::size_t most_operations = 20000;
  double most_seconds         = 0.06;
};

std::vector<Latency> run_warm(Effort const& effort);
std::vector<Latency> run_threads(Effort const& effort);

// With a device only.
std::vector<Latency> run_busy(Effort const& effort);
std::vector<Latency> run_free(Effort const& effort);

}  // namespace KokkosHostSpaces::Perf

#endif
