// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_STOPWATCH_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_STOPWATCH_HPP

#include "Baseline.hpp"

#include <functional>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// Times work on a stream of its own, which both sides share: what differs between them is then the
/// work alone. Without a device both functions read the host's clock.
class Stopwatch {
 public:
  using Work = std::function<void()>;

  Stopwatch();
  ~Stopwatch();

  Stream stream() const;
  Stream other_stream() const;

  /// Seconds that the device spends on what `work` enqueues, from device events. The stream is held
  /// up by a blocking kernel until `work` has returned: everything is queued by then, so that the
  /// time the host needs to enqueue, which real programs hide behind earlier work, is no part of
  /// the figure. \throw std::runtime_error if `work` waits for the stream instead of enqueueing
  double time_queued(Work const& work);

  /// The same, with nothing of the data in the cache of the device at the beginning.
  double time_queued_cold(Work const& work);

  /// Of work on both streams: from the moment when both may begin until both are done.
  double time_queued_on_both(Work const& work);

  /// Seconds by the host's clock from an idle stream to an idle stream. For copies of pageable
  /// memory: CUDA stages them through its own buffers while the caller waits, so they cannot be
  /// queued up.
  double time_with_host_clock(Work const& work);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace KokkosHostSpaces::Perf

#endif
