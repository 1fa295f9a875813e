// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamJob.hpp>

#include "../../backend/Driver.hpp"

#include <algorithm>
#include <limits>

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

class Run {
 public:
  Run(StreamJob const& job, StreamLanes& lanes)
      : m_job(job), m_lanes(lanes), m_state(std::make_shared<StreamedState>()) {}

  std::shared_ptr<StreamedState> run() {
    m_state->label     = m_job.label;
    m_state->finish    = m_job.finish;
    m_state->transport = choose();
    refuse_unreachable();
    if (m_job.targets.empty())
      on_host();
    else if (m_state->transport == Transport::zero_copy)
      in_place(m_job.targets.front());
    else
      staged(m_job.targets.front());
    return m_state;
  }

 private:
  Transport choose() {
    if (m_job.targets.empty()) {
      m_state->why = "on the host, loops work in place";
      return Transport::zero_copy;
    }
    if (m_job.transport != Transport::automatic) {
      m_state->why = "as asked";
      return m_job.transport;
    }
    m_state->why = "each element is copied once";
    return Transport::staged;
  }

  void refuse_unreachable() const {
    if (m_state->transport != Transport::zero_copy || m_job.targets.empty()) return;
    if (m_job.binding.in_place)
      throw Error(
          m_job.label +
          ": ZeroCopy cannot write what other iterations read (they would find new values): "
          "use Staged, or write another View");
    if (!m_job.binding.pageable.empty())
      throw Error(m_job.label + ": kernels cannot reach " + m_job.binding.pageable +
                  " (it is not page-locked): use Staged, PinnedSpace, or a Registration");
  }

  StreamPlan plan(StreamWishes const& wishes) {
    StreamPlan made     = plan_stream(m_job.label, m_job.binding.shape, wishes);
    m_state->chunks     = made.chunks;
    m_state->chunk_rows = made.chunk_rows;
    return made;
  }

  void prepare(std::int64_t chunks) const {
    if (m_job.prepare) m_job.prepare(chunks);
  }

  StreamLauncher launcher(std::size_t target) const {
    return [this, target](StreamLaunch const& launch) { m_job.launch(target, launch); };
  }

  void staged(StreamTarget const& target) {
    StreamPlan const made    = plan(m_job.wishes);
    m_state->bytes_to_device = made.bytes_to_device;
    m_state->bytes_to_host   = made.bytes_to_host;
    m_state->memory          = made.memory;
    prepare(made.chunks);
    if (made.chunks > 0) {
      auto const lane = m_lanes.take(target.device, made.memory);
      try {
        run_on_lane(made, m_job.binding.shape, *lane, target, launcher(0));
      } catch (CudaError const& error) {
        m_lanes.drop(lane);
        throw CudaError(m_job.label + ": " + error.what(), error.code());
      } catch (...) {
        m_lanes.drop(lane);
        throw;
      }
      m_lanes.put_back(lane);
    }
    m_state->record_end(target);
  }

  // On the arrays where they are, stage by stage. A reduction has the parts that it has when staged.
  void in_place(StreamTarget const& target) {
    stages_in_place();
    m_state->record_end(target);
  }

  void stages_in_place() {
    StreamShape const& shape = m_job.binding.shape;
    std::int64_t rows        = m_job.binding.launch_rows;
    if (m_job.reduces) rows = plan(m_job.wishes).chunk_rows;
    if (m_job.wishes.chunk_rows > 0) rows = m_job.wishes.chunk_rows;
    m_state->chunk_rows = rows;
    m_state->chunks     = 0;
    for (StreamStage const& stage : shape.stages)
      m_state->chunks = std::max(m_state->chunks, (stage.end - stage.begin + rows - 1) / rows);
    prepare(m_state->chunks);
    std::vector<char*> homes;
    for (std::size_t b = 0; b < shape.buffers.size(); ++b) {
      StreamBuffer const& buffer = shape.buffers[b];
      homes.push_back(
          buffer.host != nullptr || buffer.rows == 0
              ? buffer.host
              : m_job.intermediate(int(b), buffer.row_bytes * std::size_t(buffer.rows)));
    }
    execute_in_place(shape, homes, rows, launcher(0));
  }

  void on_host() {
    bool const one_loop = m_job.binding.shape.stages.size() == 1;
    if (one_loop && !m_job.binding.in_place) {
      stages_in_place();
    } else {
      StreamWishes wishes   = m_job.wishes;
      wishes.smallest_chunk = std::size_t(1) << 20;  // stays in the caches
      wishes.slots          = 2;
      wishes.memory         = std::numeric_limits<std::size_t>::max();
      StreamPlan const made = plan(wishes);
      prepare(made.chunks);
      execute_on_host(made, m_job.binding.shape, launcher(0));
    }
    m_state->fence();
  }

  StreamJob const& m_job;
  StreamLanes& m_lanes;
  std::shared_ptr<StreamedState> m_state;
};

}  // namespace

StreamedState::~StreamedState() {
  for (void* const event : m_ends) Driver::release_event(event);
}

void StreamedState::record_end(StreamTarget const& target) {
  m_ends.push_back(nullptr);
  Driver::record(m_ends.back(), target.stream, target.device);
}

bool StreamedState::is_done() const {
  std::lock_guard const lock(m_mutex);
  return std::all_of(m_ends.begin(), m_ends.end(), [](void* event) {
    return Driver::query(event) != Driver::EventState::pending;
  });
}

void StreamedState::fence() {
  std::lock_guard const lock(m_mutex);
  if (m_fenced) return;
  m_fenced     = true;
  bool success = true;
  // Whoever is told of an error must find nothing running: the wait itself may have failed.
  for (void* const event : m_ends) success &= Driver::wait(event) || (Driver::wait(event), false);
  if (!success)
    throw Error(label +
                ": the device failed while the loop ran (its results are undefined): look "
                "for an error in the body, compute-sanitizer finds it");
  if (finish) finish();
}

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

std::shared_ptr<StreamedState> run_stream(StreamJob const& job, StreamLanes& lanes) {
  return Run(job, lanes).run();
}

}  // namespace KokkosHostSpaces::Impl
