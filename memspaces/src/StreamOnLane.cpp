// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A plan on three streams: two of a lane for the copies in and out, and the caller's for the
// kernels, so that these are where the caller expects them.

#include <KokkosHostSpaces/impl/StreamJob.hpp>

#include "../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace {

// Queue `work` is the caller's stream, on which the user's kernels are launched.
class LaneExecutor : public StreamExecutor {
 public:
  LaneExecutor(StreamLane& lane, StreamTarget const& target, StreamLauncher const& launcher,
               int events)
      : m_lane(lane), m_target(target), m_launcher(launcher) {
    if (m_lane.events.size() < std::size_t(events)) m_lane.events.resize(std::size_t(events));
  }

  void begin() {
    // Its memory may still be in use by a loop on another stream.
    if (m_lane.used) Driver::make_wait(m_target.stream, m_lane.done, m_lane.device);
    Driver::record(m_lane.begun, m_target.stream, m_lane.device);
    Driver::make_wait(m_lane.in, m_lane.begun, m_lane.device);
    Driver::make_wait(m_lane.out, m_lane.begun, m_lane.device);
  }

  // What the caller enqueues from now on comes after the last copy.
  void end() {
    Driver::record(m_lane.done, m_lane.out, m_lane.device);
    Driver::make_wait(m_target.stream, m_lane.done, m_lane.device);
    Driver::record(m_lane.done, m_target.stream, m_lane.device);
    m_lane.used = true;
  }

  // After an error nothing may touch the caller's memory any more. The error was reported.
  void drain() noexcept {
    for (void* const stream : {m_lane.in, m_target.stream, m_lane.out}) {
      try {
        Driver::fence(stream);
      } catch (CudaError const&) {  // of the same origin
      }
    }
  }

  void copy(StreamQueue queue, void* dst, void const* src, std::size_t bytes) override {
    Driver::copy(dst, src, bytes, stream(queue));
  }
  void launch(StreamLaunch const& launch) override { m_launcher(launch); }
  void record(StreamQueue queue, int event) override {
    Driver::record(m_lane.events[std::size_t(event)], stream(queue), m_lane.device);
  }
  void wait(StreamQueue queue, int event) override {
    Driver::make_wait(stream(queue), m_lane.events[std::size_t(event)], m_lane.device);
  }

 private:
  Driver::Stream stream(StreamQueue queue) const {
    return queue == StreamQueue::in    ? m_lane.in
           : queue == StreamQueue::out ? m_lane.out
                                       : m_target.stream;
  }

  StreamLane& m_lane;
  StreamTarget m_target;
  StreamLauncher const& m_launcher;
};

}  // namespace

void run_on_lane(StreamPlan const& plan, StreamShape const& shape, StreamLane& lane,
                 StreamTarget const& target, StreamLauncher const& launcher) {
  LaneExecutor executor(lane, target, launcher, plan.events);
  try {
    executor.begin();
    execute(plan, shape, lane.memory.get(), executor);
    executor.end();
  } catch (...) {
    executor.drain();
    throw;
  }
}

}  // namespace KokkosHostSpaces::Impl
