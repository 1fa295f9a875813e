// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_TWINS_LATENCY_TWIN_HPP
#define KOKKOS_HOST_SPACES_PERF_TWINS_LATENCY_TWIN_HPP

#include "Side.hpp"

#include <cstdint>

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

/// The smallest steps of a plain program, on a stream (without a device: carried out at once).
class LatencyTwin {
 public:
  explicit LatencyTwin(Stream stream);
  ~LatencyTwin();

  /// Enqueues a kernel of one thread: ++*count, or *where = value.
  void count(std::int64_t* count);
  void store(std::int64_t* where, std::int64_t value);

  /// A graph of kernels one after the other, each ++*count; launch_graph enqueues it.
  void make_graph(int kernels, std::int64_t* count);
  void launch_graph();

  void copy(void* destination, void const* source, std::size_t bytes);

  /// Enqueues a kernel that answers so many signals, each of which differs from the one before; the
  /// first from 0. Not without a device.
  void answer(SignalAndAnswer* flags, int signals);

  /// Waits for all of it.
  void fence();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace KokkosHostSpaces::Perf

#endif
