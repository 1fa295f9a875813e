// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// The answer of a kernel to a signal.
constexpr int answer_to(int signal) { return 2 * signal + 1; }

/// Flags in page-locked memory that the device accesses in place, on two cache lines.
struct SignalAndAnswer {
  alignas(128) int signal;
  alignas(128) int answer;
};

/// Polls after which a kernel gives up: some seconds.
inline constexpr int most_looks = 2'000'000;

/// The smallest steps of a plain program. Variants: ways to launch the counting kernel.
class LatencyBaseline : public Baseline {
 public:
  /// Enqueues a kernel of one thread: ++*count, or *where = value.
  virtual void count(std::int64_t* count)                     = 0;
  virtual void store(std::int64_t* where, std::int64_t value) = 0;

  virtual void copy(void* destination, void const* source, std::size_t bytes) = 0;

  /// Enqueues a kernel that answers this many signals; a signal is a change of the value, at first from 0.
  /// Needs a device.
  virtual void answer(SignalAndAnswer* flags, int signals) = 0;

  /// Waits for the stream.
  virtual void fence() = 0;
};

std::unique_ptr<LatencyBaseline> make_latency_baseline(Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
