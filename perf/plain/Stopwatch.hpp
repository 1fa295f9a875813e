// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_STOPWATCH_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_STOPWATCH_HPP

#include "Baseline.hpp"

#include <functional>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// Times work on its own stream, which both sides of a benchmark share. Without a device all functions read
/// the host's clock.
class Stopwatch {
 public:
  using Work = std::function<void()>;

  Stopwatch();
  ~Stopwatch();

  Stream stream() const;
  Stream other_stream() const;

  /// Seconds that the device spends on what `work` enqueues, from device events. A blocking kernel holds
  /// the stream until `work` has returned, so that the figure does not include the time to enqueue, which
  /// real programs hide behind earlier work.
  /// \throw std::runtime_error if `work` waits for the stream
  double time_queued(Work const& work);

  /// The same, with a cold cache of the device.
  double time_queued_cold(Work const& work);

  /// Of work on two streams: from the moment both may begin until both are done.
  double time_queued_on_both(Work const& work);

  /// Of the work on the stream alone, while other_stream() has work, which begins at the same time.
  double time_queued_beside(Work const& work);

  /// Seconds by the host's clock from an idle stream to an idle stream. For copies of pageable memory: CUDA
  /// stages them while the caller waits, so that they cannot be queued.
  double time_with_host_clock(Work const& work);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace KokkosHostSpaces::Perf

#endif
