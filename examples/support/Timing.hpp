// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_TIMING_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_TIMING_HPP

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace Example {

/// Shortest of `repeats` runs of `work`, in seconds, from its submission until `instance` is done.
/// One run before them warms up.
template <class ExecutionSpace, class Work>
double best_seconds(ExecutionSpace const& instance, int repeats, Work const& work) {
  work();
  double best = std::numeric_limits<double>::max();
  for (int r = 0; r < repeats; ++r) {
    instance.fence("Example::best_seconds: before");
    Kokkos::Timer timer;
    work();
    instance.fence("Example::best_seconds: after");
    best = std::min(best, timer.seconds());
  }
  return best;
}

/// 4096 as "4 KiB".
inline std::string bytes_text(std::size_t bytes) {
  char const* const units[] = {" B", " KiB", " MiB", " GiB"};
  int unit                  = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + units[unit];
}

#ifdef KOKKOS_ENABLE_CUDA

/// Time that the device spends on the work of several instances, by events in their streams.
class DeviceTimer {
 public:
  explicit DeviceTimer(std::vector<Kokkos::Cuda> instances)
      : m_instances(std::move(instances)), m_ends(m_instances.size()) {}

  /// Waits for the instances, then starts the time.
  void start() {
    for (auto const& instance : m_instances) instance.fence("Example::DeviceTimer::start");
    m_begin.record(m_instances.front());
  }

  /// Waits for the work submitted since start(); seconds until the last instance was done with it.
  double stop() {
    for (std::size_t i = 0; i < m_ends.size(); ++i) m_ends[i].record(m_instances[i]);
    double seconds = 0;
    for (Event const& end : m_ends) seconds = std::max(seconds, end.seconds_since(m_begin));
    return seconds;
  }

 private:
  static void check(cudaError_t status) {
    if (status != cudaSuccess)
      throw std::runtime_error(std::string("timing failed (") + cudaGetErrorString(status) + ")");
  }

  class Event {
   public:
    Event() { check(cudaEventCreate(&m_event)); }
    ~Event() { static_cast<void>(cudaEventDestroy(m_event)); }
    Event(Event const&)            = delete;
    Event& operator=(Event const&) = delete;

    void record(Kokkos::Cuda const& instance) {
      check(cudaEventRecord(m_event, instance.cuda_stream()));
    }
    double seconds_since(Event const& begin) const {
      float milliseconds = 0;
      check(cudaEventSynchronize(m_event));
      check(cudaEventElapsedTime(&milliseconds, begin.m_event, m_event));
      return 1e-3 * double(milliseconds);
    }

   private:
    cudaEvent_t m_event = nullptr;
  };

  std::vector<Kokkos::Cuda> m_instances;
  Event m_begin;
  std::vector<Event> m_ends;
};

#else

/// Without a device, the time on the host until all instances are done.
class DeviceTimer {
 public:
  explicit DeviceTimer(std::vector<Kokkos::DefaultExecutionSpace> instances)
      : m_instances(std::move(instances)) {}

  void start() {
    fence();
    m_timer.reset();
  }
  double stop() {
    fence();
    return m_timer.seconds();
  }

 private:
  void fence() const {
    for (auto const& instance : m_instances) instance.fence("Example::DeviceTimer");
  }

  std::vector<Kokkos::DefaultExecutionSpace> m_instances;
  Kokkos::Timer m_timer;
};

#endif

}  // namespace Example

#endif
