// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// A signal of the host and the answer of a kernel, on two cache lines.
struct SignalAndAnswer {
  alignas(128) int signal;
  alignas(128) int answer;
};

/// Polls after which a kernel gives up: some seconds.
inline constexpr int most_looks = 2'000'000;

/// The smallest steps, of a plain program or of Kokkos.
class Steps {
 public:
  Steps()                        = default;
  Steps(Steps const&)            = delete;
  Steps& operator=(Steps const&) = delete;
  virtual ~Steps()               = default;

  /// Enqueues a kernel of one thread: ++*count, or *where = value.
  virtual void count(std::int64_t* count)                     = 0;
  virtual void store(std::int64_t* where, std::int64_t value) = 0;

  /// Enqueues a copy of a number from page-locked memory to the device.
  virtual void copy(double* destination, double const* source) = 0;

  /// Enqueues a kernel that answers this many signals; a signal is a change of the value, at first from 0.
  /// Needs a device.
  virtual void answer(SignalAndAnswer* flags, int signals) = 0;

  /// Enqueues a kernel of one thread: *end = the last of `steps` places of a chain, next[next[...[0]]].
  virtual void chase(std::int64_t const* next, int steps, std::int64_t* end) = 0;

  /// Waits for the stream.
  virtual void fence() = 0;
};

std::unique_ptr<Steps> make_plain_steps(Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
