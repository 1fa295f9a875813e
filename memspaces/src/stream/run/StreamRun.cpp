// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include "../../../../backend/Driver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

// --- the state ---

StreamedState::~StreamedState() {
  for (void* const event : m_ends) Driver::release_event(event);
}

void StreamedState::record_end(StreamTarget const& target) {
  m_ends.push_back(nullptr);
  Driver::record(m_ends.back(), target.stream, target.device);
}

bool StreamedState::is_done() const {
  return std::all_of(m_ends.begin(), m_ends.end(), [](void* event) {
    return Driver::query(event) != Driver::EventState::pending;
  });
}

void StreamedState::fence() {
  std::lock_guard const lock(m_mutex);
  if (m_fenced) return;
  m_fenced     = true;
  bool success = true;
  // Waits for all events before an error is reported. A wait that failed is tried again, as the
  // call itself may have failed.
  for (void* const event : m_ends) success &= Driver::wait(event) || (Driver::wait(event), false);
  if (!success)
    throw Error(label +
                ": the device failed while the loop ran (its results are undefined): look "
                "for an error in the body, compute-sanitizer finds it");
}

StreamedState const& no_streamed_loop() {
  static StreamedState const none;
  return none;
}

std::string StreamedState::explain() const {
  if (why.empty()) return "no streamed loop";
  return label + ": " + (transport == Transport::zero_copy ? "zero-copy" : "staged") + " (" + why +
         "), " + std::to_string(chunks) + " chunks of up to " + std::to_string(chunk_rows) +
         " rows, " + std::to_string(bytes_to_device) + " bytes to the device and " +
         std::to_string(bytes_to_host) + " back, " + std::to_string(memory) +
         " bytes of device memory";
}

// --- the run ---

namespace {

class Run {
 public:
  Run(StreamJob const& job, StreamResourcePool& pool)
      : m_job(job),
        m_options(job.options),
        m_pool(pool),
        m_state(std::make_shared<StreamedState>()) {}

  std::shared_ptr<StreamedState> run() {
    m_state->label = m_job.label;
    if (m_job.targets.empty()) {
      if (m_job.wait)
        on_stock_device();
      else
        m_job.pretends_device ? on_pretended_device() : on_host();
      return m_state;
    }
    for (StreamTarget const& target : m_job.targets)
      if (Driver::captures(target.stream))
        throw Error(m_job.label +
                    ": its instance is captured into a graph (other loops would use the same "
                    "memory when that runs): call it outside of the capture");
    choose();
    m_began = true;
    join_targets();
    if (m_state->transport == Transport::zero_copy)
      in_place();
    else
      staged();
    join_targets();
    if (m_job.finish) {
      m_job.finish();
      join_targets();
    }
    for (StreamTarget const& target : m_job.targets) m_state->record_end(target);
    return m_state;
  }

  // True if something may have been enqueued.
  bool began() const { return m_began; }

 private:
  // --- which transport ---
  // The reason why kernels cannot work in place, or an empty string.
  std::string obstacle() const {
    if (!m_job.binding.in_place.empty())
      return m_job.binding.in_place +
             " is read and written, so they would find new values where they read: write another View";
    if (!m_job.binding.pageable.empty() && !is_coherent())
      return m_job.binding.pageable + " is not page-locked: use PinnedSpace or a Registration";
    return "";
  }

  bool is_coherent() const {
    return !m_job.targets.empty() &&
           std::all_of(m_job.targets.begin(), m_job.targets.end(), [](StreamTarget const& target) {
             return Driver::reaches_pageable_memory(target.device);
           });
  }

  void choose() {
    m_state->transport = m_job.transport;
    m_state->why       = "as asked";
    if (!m_job.binding.pageable.empty() && !is_coherent())
      m_state->why += "; " + m_job.binding.pageable + " is not page-locked, so it may wait";
    if (m_job.transport == Transport::zero_copy && !obstacle().empty())
      throw Error(m_job.label + ": ZeroCopy lets kernels work in host memory, but " + obstacle() +
                  ", or use Staged");
    if (m_job.transport == Transport::automatic) {
      if (m_job.targets.empty())
        pretend();
      else
        choose_by_rule();
    }
    if (m_state->transport == Transport::staged) plan_parts();
  }

  // Plans the chunks. Chooses zero-copy and returns false if they are impossible, and that is not.
  bool can_stage() {
    try {
      plan_parts();
      return true;
    } catch (Error const& error) {
      if (!obstacle().empty()) throw;
      m_state->transport = Transport::zero_copy;
      m_state->why       = std::string("staging is not possible: ") + error.what();
      return false;
    }
  }

  void pretend() {
    if (!can_stage()) return;
    m_state->transport = Transport::staged;
    m_state->why       = "on a pretended device";
  }

  void choose_by_rule() {
    std::string const reason = obstacle();
    if (!reason.empty()) {
      m_state->transport = Transport::staged;
      m_state->why       = "kernels cannot work in place: " + reason;
      return;
    }
    TransportChoice const choice = choose_transport(m_job.binding.shape, is_coherent());
    if (!choice.in_place && !can_stage()) return;
    m_state->transport = choice.in_place ? Transport::zero_copy : Transport::staged;
    m_state->why       = choice.why;
  }

  // Cuts a reduction at chunks of the asked size: it has the same chunks, and so the same bits, on
  // any number of devices and whatever their measured rates.
  std::int64_t cuts_at() const { return m_job.prepare ? m_job.options.chunk_rows : 1; }

  // The shares of the targets; one weight if there is at most one target.
  std::vector<double> weights_of_targets() const {
    if (m_job.targets.size() > 1 && m_job.weights) return m_job.weights();
    return std::vector<double>(std::max<std::size_t>(m_job.targets.size(), 1), 1);
  }

  // --- staged ---
  void plan_parts() {
    if (!m_plans.empty()) return;
    std::vector<double> const weights = weights_of_targets();
    m_parts         = weights.size() > 1 ? split_stream(m_job.binding.shape, weights, cuts_at())
                                         : std::vector{m_job.binding.shape};
    m_state->chunks = 0;
    for (StreamShape& part : m_parts) {
      part.saved.resize(m_parts.size() > 1 ? part.buffers.size() : 0);
      m_saves.push_back(m_parts.size() > 1 ? rows_to_save(m_job.label, part)
                                           : std::vector<RowsToSave>());
      for (RowsToSave const& save : m_saves.back()) part.saved[at(save.buffer)].needed = true;
      m_plans.push_back(plan_stream(m_job.label, part, m_options));
      m_state->chunks += m_plans.back().chunks;
      m_state->chunk_rows = std::max(m_state->chunk_rows, m_plans.back().chunk_rows);
      m_state->bytes_to_device += m_plans.back().bytes_to_device;
      m_state->bytes_to_host += m_plans.back().bytes_to_host;
      m_state->memory += m_plans.back().memory;
    }
  }

  // Copies the rows that one part reads and another one writes, before any part begins.
  void save_rows() {
    bool any = false;
    for (std::size_t p = 0; p < m_parts.size(); ++p) {
      for (RowsToSave const& save : m_saves[p]) {
        StreamBuffer const& buffer = m_parts[p].buffers[at(save.buffer)];
        std::size_t const begin    = std::size_t(save.rows.begin) * buffer.row_bytes;
        std::size_t const bytes    = std::size_t(save.rows.count()) * buffer.row_bytes;
        SavedRows& saved           = m_parts[p].saved[at(save.buffer)];
        (save.above ? saved.above : saved.below) =
            shifted(m_job.save(buffer.host + begin, bytes), -std::ptrdiff_t(begin));
        any = true;
      }
    }
    if (any) join_targets();
  }

  void staged() {
    prepare(m_state->chunks);
    save_rows();
    std::vector<StreamPart> parts;
    std::int64_t chunks_before = 0;
    for (std::size_t p = 0; p < m_parts.size(); ++p) {
      if (m_plans[p].chunks > 0)
        parts.push_back(
            {m_plans[p], m_parts[p], m_job.targets[p], launcher(p, chunks_before), m_options.turn});
      chunks_before += m_plans[p].chunks;
    }
    run_on_devices(parts, m_pool);
  }

  // --- in place ---
  // Runs one stage after the other, each on all targets.
  void in_place() {
    auto const first_rows    = rows_in_place(m_job.binding.shape, m_job.intermediate);
    m_state->bytes_to_device = m_state->bytes_to_host = m_state->memory = 0;
    StreamShape const& shape                                            = m_job.binding.shape;
    std::int64_t const asked                                            = m_job.options.chunk_rows;
    std::int64_t const most =
        std::clamp<std::int64_t>(m_job.binding.rows, 1, m_job.binding.launch_rows);
    std::int64_t const rows           = asked > 0 ? std::min(asked, most) : most;
    std::vector<double> const weights = weights_of_targets();
    m_state->chunk_rows               = rows;
    for (std::size_t s = 0; s < shape.stages.size(); ++s) {
      StreamStage const& stage = shape.stages[s];
      std::vector<StreamRows> const parts =
          split_rows({stage.begin, stage.end}, weights, cuts_at());
      m_state->chunks = 0;
      for (StreamRows const& part : parts) m_state->chunks += (part.count() + rows - 1) / rows;
      if (s == 0) prepare(m_state->chunks);
      if (s > 0) join_targets();
      std::int64_t chunks_before = 0;
      for (std::size_t t = 0; t < parts.size(); ++t) {
        execute_in_place(shape, int(s), parts[t], first_rows, rows, launcher(t, chunks_before));
        chunks_before += (parts[t].count() + rows - 1) / rows;
      }
    }
  }

  void on_host() {
    m_state->transport  = Transport::zero_copy;
    m_state->why        = "on the host";
    bool const one_loop = m_job.binding.shape.stages.size() == 1;
    PlanOptions options = m_job.options;
    options.memory      = std::numeric_limits<std::size_t>::max();
    if (one_loop && m_job.binding.in_place.empty()) {
      in_place();
    } else {
      options.largest_chunk = std::size_t(1) << 20;  // stays in caches
      options.slots         = 2;
      StreamPlan const made = plan_stream(m_job.label, m_job.binding.shape, options);
      m_state->chunks       = made.chunks;
      m_state->chunk_rows   = made.chunk_rows;
      prepare(made.chunks);
      execute_on_host(made, m_job.binding.shape, launcher(0, 0));
    }
  }

  void on_stock_device() {
    std::string const& pageable = m_job.binding.pageable;
    if (!pageable.empty())
      throw Error(
          m_job.label + ": " + pageable +
          " is pageable or registered memory (kernels of this device reach neither): make it "
          "a View that PinnedSpace allocates");
    if (!obstacle().empty())
      throw Error(m_job.label + ": on this device kernels work in host memory, but " + obstacle());
    m_state->transport = Transport::zero_copy;
    m_state->why       = "the only way on this device";
    in_place();
    m_job.wait();
  }

  // As on a device, and in eight chunks or more: in one chunk a halo is never too small.
  void on_pretended_device() {
    std::size_t row_bytes = 0;
    for (StreamBuffer const& buffer : m_job.binding.shape.buffers)
      if (!buffer.fixed) row_bytes = std::max(row_bytes, buffer.row_bytes);
    m_options.smallest_chunk = 1;
    m_options.largest_chunk  = std::size_t(m_job.binding.rows) * row_bytes / 8;
    choose();
    if (m_state->transport == Transport::zero_copy) {
      in_place();
    } else {
      prepare(m_state->chunks);
      execute_on_host(m_plans.front(), m_parts.front(),
                      Impl::on_pretended_device(m_job, launcher(0, 0)));
    }
  }

  // --- helpers ---
  void prepare(std::int64_t chunks) const {
    if (m_job.prepare) m_job.prepare(chunks);
  }

  StreamLauncher launcher(std::size_t target, std::int64_t chunks_before) const {
    return [this, target, chunks_before](StreamLaunch const& launch) {
      StreamLaunch numbered = launch;
      numbered.chunk += chunks_before;
      m_job.launch(target, numbered);
    };
  }

  // Orders the later work of each target behind the earlier work of all.
  void join_targets() {
    if (m_job.targets.size() < 2) return;
    for (StreamTarget const& target : m_job.targets) {
      Driver::Event event = nullptr;
      try {
        Driver::record(event, target.stream, target.device);
        for (StreamTarget const& other : m_job.targets)
          if (&other != &target) Driver::make_wait(other.stream, event, other.device);
      } catch (...) {
        Driver::release_event(event);
        throw;
      }
      Driver::release_event(event);
    }
  }

  StreamJob const& m_job;
  PlanOptions m_options;
  StreamResourcePool& m_pool;
  std::shared_ptr<StreamedState> m_state;
  std::vector<StreamShape> m_parts;
  std::vector<std::vector<RowsToSave>> m_saves;
  std::vector<StreamPlan> m_plans;
  bool m_began = false;
};

// Drains all streams before an error is reported.
void drain(StreamJob const& job) noexcept {
  for (StreamTarget const& target : job.targets) {
    try {
      Driver::fence(target.stream, target.device);
    } catch (Error const&) {  // has the cause of the error that is being reported
    }
  }
}

}  // namespace

bool is_reachable(void const* begin, std::size_t bytes) {
  if (begin == nullptr) return false;
  auto const* at        = static_cast<char const*>(begin);
  auto const* const end = at + std::max<std::size_t>(bytes, 1);
  while (at < end) {
    Driver::Extent const extent = Driver::extent_of(at);
    if (extent.device >= 0 || !extent.contains(at)) return false;
    at = extent.end;
  }
  return true;
}

std::shared_ptr<StreamedState> run_stream(StreamJob const& job, StreamResourcePool& pool) {
  if (job.options.chunk_rows < 0 || job.options.slots < 0)
    throw Error(job.label + ": " + std::to_string(job.options.chunk_rows) + " chunk_rows and " +
                std::to_string(job.options.slots) +
                " slots (less than none): take positive ones, or 0 to have them chosen");
  Run run(job, pool);
  try {
    return run.run();
  } catch (DeviceError const& error) {
    drain(job);
    throw DeviceError(job.label + ": " + error.what(), error.code());
  } catch (...) {
    if (run.began()) drain(job);
    throw;
  }
}

}  // namespace KokkosHostSpaces::Impl
