// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A plan on three streams: two of a lane for the copies in and out, and the caller's for the
// kernels, so that these are where the caller expects them.

#include <KokkosHostSpaces/impl/StreamJob.hpp>

#include "../../backend/Driver.hpp"

#include <algorithm>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

// Queue `work` is the caller's stream, on which the user's kernels are launched.
class LaneExecutor : public StreamExecutor {
 public:
  LaneExecutor(StreamLane& lane, StreamTarget const& target, StreamLauncher const& launcher)
      : m_lane(lane), m_target(target), m_launcher(launcher) {}

  void begin(std::size_t events) {
    if (m_lane.events.size() < events) m_lane.events.resize(events);
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

// A part while it is enqueued.
class LaneRun {
 public:
  LaneRun(LanePart const& part, StreamLanes& lanes)
      : m_lanes(lanes),
        m_lane(lanes.take(part.target.device, part.plan.memory)),
        m_executor(*m_lane, part.target, part.launcher),
        m_walk(part.plan, part.shape, m_lane->memory.get(), m_executor),
        m_events(at(part.plan.events)) {}

  ~LaneRun() {
    if (m_lane == nullptr) return;
    m_executor.drain();
    m_lanes.drop(m_lane);
  }
  LaneRun(LaneRun const&)            = delete;
  LaneRun& operator=(LaneRun const&) = delete;

  void begin() { m_executor.begin(m_events); }
  bool next_chunk() { return m_walk.next_chunk(); }
  void end() {
    m_executor.end();
    m_lanes.put_back(std::exchange(m_lane, nullptr));
  }

 private:
  StreamLanes& m_lanes;
  std::shared_ptr<StreamLane> m_lane;
  LaneExecutor m_executor;
  StreamWalk m_walk;
  std::size_t m_events;
};

void enqueue_in_turn(std::vector<std::unique_ptr<LaneRun>> const& runs) {
  for (auto const& run : runs) run->begin();
  for (bool any = true; any;) {
    any = false;
    for (auto const& run : runs) any |= run->next_chunk();
  }
  for (auto const& run : runs) run->end();
}

}  // namespace

// Two calls that take lanes of several devices take them in the same order, and one of a device at a
// time: so none waits for a lane that waits for its own.
void run_on_lanes(std::vector<LanePart> const& parts, StreamLanes& lanes) {
  std::vector<LanePart const*> left;
  for (LanePart const& part : parts) left.push_back(&part);
  std::stable_sort(left.begin(), left.end(), [](LanePart const* a, LanePart const* b) {
    return a->target.device < b->target.device;
  });
  while (!left.empty()) {
    std::vector<std::unique_ptr<LaneRun>> runs;
    std::vector<LanePart const*> later;
    LanePart const* last = nullptr;
    for (LanePart const* const part : left) {
      bool const taken = last != nullptr && last->target.device == part->target.device;
      if (taken)
        later.push_back(part);
      else
        runs.push_back(std::make_unique<LaneRun>(*part, lanes));
      last = part;
    }
    enqueue_in_turn(runs);
    left = std::move(later);
  }
}

}  // namespace KokkosHostSpaces::Impl
