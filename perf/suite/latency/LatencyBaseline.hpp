// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// What a kernel answers to a signal.
constexpr int answer_to(int signal) { return 2 * signal + 1; }

/// In page-locked memory that the device reads and writes in place; far enough apart for two cache
/// lines.
struct SignalAndAnswer {
  alignas(128) int signal;
  alignas(128) int answer;
};

/// After so many looks at a signal that does not come a kernel gives up: some seconds.
inline constexpr int most_looks = 2'000'000;

/// The smallest steps of a plain program. Its variants: ways to launch the kernel that counts.
class LatencyBaseline : public Baseline {
 public:
  /// A kernel of one thread: ++*count, or *where = value.
  virtual void count(std::int64_t* count)                     = 0;
  virtual void store(std::int64_t* where, std::int64_t value) = 0;

  /// A graph of kernels one after the other, each ++*count; launch_graph enqueues it.
  virtual void make_graph(int kernels, std::int64_t* count) = 0;
  virtual void launch_graph()                               = 0;

  virtual void copy(void* destination, void const* source, std::size_t bytes) = 0;

  /// A kernel that answers so many signals, each of which differs from the one before; the first
  /// from 0. Not without a device.
  virtual void answer(SignalAndAnswer* flags, int signals) = 0;

  /// Waits for all of it.
  virtual void fence() = 0;
};

std::unique_ptr<LatencyBaseline> make_latency_baseline(Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
