// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A plan on streams: those of a lane for the copies in and out, and the caller's for the
// kernels, so that these are where the caller expects them.

#include <KokkosHostSpaces/impl/stream/run/StreamJob.hpp>

#include "../../../../backend/Driver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// Nothing of one chunk overlaps with anything, so that streams beside the caller's would only cost
// calls and the time of their events. Large ones let other loops have their turns there.
bool needs_one_stream(StreamPlan const& plan) {
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  return plan.chunks == 1 && plan.turn_to_device == none && plan.turn_to_host == none;
}

// Queue `work` is the caller's stream, on which the user's kernels are launched.
class LaneExecutor : public StreamExecutor {
 public:
  LaneExecutor(StreamResources& lane, StreamTarget const& target, StreamLauncher const& launcher,
               StreamPlan const& plan)
      : m_lane(lane),
        m_target(target),
        m_launcher(launcher),
        m_plan(plan),
        m_one_stream(needs_one_stream(plan)) {}

  void begin() {
    // Its memory may still be in use by a loop on another stream.
    if (m_lane.used) Driver::make_wait(m_target.stream, m_lane.done, m_lane.device);
    if (m_one_stream) return;
    if (m_lane.events.size() < at(m_plan.events)) m_lane.events.resize(at(m_plan.events));
    Driver::record(m_lane.begun, m_target.stream, m_lane.device);
    m_lane.in.start(m_lane.begun, m_plan.turn_to_device);
    m_lane.out.start(m_lane.begun, m_plan.turn_to_host);
  }

  // What the caller enqueues from now on comes after the last copy.
  void end() {
    if (!m_one_stream) {
      m_lane.out.record(m_lane.done);
      Driver::make_wait(m_target.stream, m_lane.done, m_lane.device);
    }
    Driver::record(m_lane.done, m_target.stream, m_lane.device);
    m_lane.used = true;
  }

  // After an error nothing may touch the caller's memory any more. The error was reported.
  void drain() noexcept {
    m_lane.in.drain();
    try {
      Driver::fence(m_target.stream, m_target.device);
    } catch (CudaError const&) {  // of the same origin
    }
    m_lane.out.drain();
  }

  void copy(StreamQueue queue, void* dst, void const* src, std::size_t bytes) override {
    if (m_one_stream || queue == StreamQueue::work)
      Driver::copy(dst, src, bytes, m_target.stream, m_target.device);
    else
      turns(queue).copy(dst, src, bytes);
  }
  void launch(StreamLaunch const& launch) override { m_launcher(launch); }
  void record(StreamQueue queue, int event) override {
    if (m_one_stream) return;
    if (queue == StreamQueue::work)
      Driver::record(m_lane.events[at(event)], m_target.stream, m_lane.device);
    else
      turns(queue).record(m_lane.events[at(event)]);
  }
  void wait(StreamQueue queue, int event) override {
    if (m_one_stream) return;
    if (queue == StreamQueue::work)
      Driver::make_wait(m_target.stream, m_lane.events[at(event)], m_lane.device);
    else
      turns(queue).wait(m_lane.events[at(event)]);
  }

 private:
  StreamTurns& turns(StreamQueue queue) {
    return queue == StreamQueue::in ? m_lane.in : m_lane.out;
  }

  StreamResources& m_lane;
  StreamTarget m_target;
  StreamLauncher const& m_launcher;
  StreamPlan const& m_plan;
  bool m_one_stream;
};

// A part while it is enqueued.
class LaneRun {
 public:
  LaneRun(LanePart const& part, StreamResourcePool& lanes)
      : m_lanes(lanes),
        m_lane(lanes.take(part.target.device, part.plan.memory)),
        m_executor(*m_lane, part.target, part.launcher, part.plan),
        m_walk(part.plan, part.shape, m_lane->memory.get(), m_executor) {}

  ~LaneRun() {
    if (m_lane == nullptr) return;
    m_executor.drain();
    m_lanes.drop(m_lane);
  }
  LaneRun(LaneRun const&)            = delete;
  LaneRun& operator=(LaneRun const&) = delete;

  void begin() { m_executor.begin(); }
  bool next_chunk() { return m_walk.next_chunk(); }
  void end() {
    m_executor.end();
    m_lanes.put_back(std::exchange(m_lane, nullptr));
  }

 private:
  StreamResourcePool& m_lanes;
  std::shared_ptr<StreamResources> m_lane;
  LaneExecutor m_executor;
  StreamWalk m_walk;
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
void run_on_lanes(std::vector<LanePart> const& parts, StreamResourcePool& lanes) {
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
