// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/StreamExecutor.hpp>

#include "../../../../backend/Driver.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

// --- plans ---

char* shifted(char const* memory, std::ptrdiff_t offset) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(memory) +
                                 static_cast<std::uintptr_t>(offset));
}

bool StreamWalk::next_chunk() {
  if (m_next == m_plan.operations.size()) return false;
  std::int64_t const chunk = m_plan.operations[m_next].chunk;
  while (m_next < m_plan.operations.size() && m_plan.operations[m_next].chunk == chunk)
    execute(m_plan.operations[m_next++]);
  return true;
}

void StreamWalk::execute(StreamOperation const& operation) {
  StreamQueue const queue = operation.queue();
  for (int const before : operation.after)
    if (before >= 0) m_executor.wait(queue, m_plan.operations[at(before)].event);
  if (operation.action == StreamAction::launch) {
    m_first_rows.clear();
    std::size_t const accesses = m_shape.stages[at(operation.stage)].accesses.size();
    for (std::size_t a = 0; a < accesses; ++a)
      m_first_rows.push_back(shifted(m_device, m_plan.origins[operation.first_origin + a]));
    m_executor.launch(
        {operation.stage, operation.chunk, operation.begin, operation.end, m_first_rows.data()});
  } else {
    copy_pieces(operation);
  }
  if (operation.event >= 0) m_executor.record(queue, operation.event);
}

void StreamWalk::copy_pieces(StreamOperation const& operation) {
  for (std::size_t p = operation.first_piece; p < operation.last_piece; ++p) {
    StreamPiece const& piece = m_plan.pieces[p];
    char* const host         = m_shape.buffers[at(piece.buffer)].host;
    char* from               = m_device;
    if (operation.action == StreamAction::load)
      from = piece.source == StreamSource::array         ? host
             : piece.source == StreamSource::saved_below ? m_shape.saved[at(piece.buffer)].below
                                                         : m_shape.saved[at(piece.buffer)].above;
    char* const to = operation.action == StreamAction::store ? host : m_device;
    m_executor.copy(operation.queue(), to + piece.to,
                    shifted(from, static_cast<std::ptrdiff_t>(piece.from)), piece.bytes);
  }
}

// --- on the host ---

namespace {

constexpr std::align_val_t of_elements{512};

class HostExecutor : public StreamExecutor {
 public:
  explicit HostExecutor(StreamLauncher const& launcher) : m_launcher(launcher) {}
  void copy(StreamQueue, void* dst, void const* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void launch(StreamLaunch const& launch) override { m_launcher(launch); }
  void record(StreamQueue, int) override {}
  void wait(StreamQueue, int) override {}

 private:
  StreamLauncher const& m_launcher;
};

}  // namespace

void DeleteAligned::operator()(char* memory) const { ::operator delete(memory, of_elements); }

AlignedMemory aligned_memory(std::size_t bytes) {
  return AlignedMemory(static_cast<char*>(::operator new(bytes, of_elements)));
}

void execute_on_host(StreamPlan const& plan, StreamShape const& shape,
                     StreamLauncher const& launcher) {
  AlignedMemory const memory = aligned_memory(plan.memory);
  HostExecutor executor(launcher);
  StreamWalk walk(plan, shape, memory.get(), executor);
  while (walk.next_chunk()) {
  }
}

// --- in place ---

void execute_in_place(StreamShape const& shape, int stage, StreamRows const& rows,
                      std::vector<char*> const& first_rows, std::int64_t most,
                      StreamLauncher const& launcher) {
  std::vector<char*> of_accesses;
  for (StreamAccess const& access : shape.stages[at(stage)].accesses)
    of_accesses.push_back(first_rows[at(access.buffer)]);
  std::int64_t chunk = 0;
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += most)
    launcher({stage, chunk++, begin, std::min(begin + most, rows.end), of_accesses.data()});
}

std::vector<char*> rows_in_place(StreamShape const& shape,
                                 std::function<char*(int, std::size_t)> const& intermediate) {
  std::vector<char*> result;
  std::vector<int> last_use(shape.buffers.size(), -1);
  for (StreamBuffer const& buffer : shape.buffers) result.push_back(buffer.host);
  for (std::size_t s = 0; s < shape.stages.size(); ++s)
    for (StreamAccess const& access : shape.stages[s].accesses)
      last_use[at(access.buffer)] = int(s);
  struct Array {
    std::size_t bytes;
    int free_from;  // stage
  };
  std::vector<Array> arrays;
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    for (StreamAccess const& access : shape.stages[s].accesses) {
      StreamBuffer const& buffer = shape.buffers[at(access.buffer)];
      if (!access.writes || buffer.loaded || buffer.stored) continue;
      std::size_t const bytes = std::size_t(buffer.rows) * buffer.row_bytes;
      std::size_t n           = 0;
      while (n < arrays.size() && (arrays[n].free_from > int(s) || arrays[n].bytes != bytes)) ++n;
      if (n == arrays.size()) arrays.push_back({bytes, 0});
      arrays[n].free_from       = last_use[at(access.buffer)] + 1;
      result[at(access.buffer)] = intermediate(int(n), bytes);
    }
  }
  return result;
}

// --- on devices ---

namespace {

// A part while it is enqueued. If it ends early, its resources are not used again.
//
// Queue `work` is the caller's stream: the user's kernels run where the caller expects them. The
// copies of a plan of one chunk overlap with nothing, so it runs on the caller's stream alone,
// without events.
class PartRun : public StreamExecutor {
 public:
  PartRun(StreamPart const& part, StreamResourcePool& pool)
      : m_pool(pool),
        m_part(part),
        m_target(part.target),
        m_one_stream(part.plan.chunks == 1),
        m_resources(pool.take(part.target.device, part.plan.memory)),
        m_walk(part.plan, part.shape, m_resources->memory.get(), *this) {}

  // Waits until nothing touches the caller's memory any more.
  ~PartRun() override {
    if (m_resources == nullptr) return;
    for (void* const stream : {m_resources->in.current, m_resources->in.other, m_target.stream,
                               m_resources->out.current, m_resources->out.other})
      drain(stream);
    m_pool.drop(m_resources);
  }
  PartRun(PartRun const&)            = delete;
  PartRun& operator=(PartRun const&) = delete;

  void begin() {
    // The memory may be in use by a loop on another stream.
    if (m_resources->used) wait_on(m_target.stream, m_resources->done);
    if (m_one_stream) return;
    if (m_resources->events.size() < at(m_part.plan.events))
      m_resources->events.resize(at(m_part.plan.events));
    record_on(m_target.stream, m_resources->begun);
    for (CopyStreams* const copies : {&m_resources->in, &m_resources->out}) {
      for (void** const stream : {&copies->current, &copies->other})
        if (*stream == nullptr) *stream = Driver::make_stream(m_target.device);
      wait_on(copies->current, m_resources->begun);
      copies->copied = 0;
    }
  }

  bool next_chunk() { return m_walk.next_chunk(); }

  // Orders the caller's later work behind the last copy.
  void end() {
    if (!m_one_stream) {
      record_on(m_resources->out.current, m_resources->done);
      wait_on(m_target.stream, m_resources->done);
    }
    record_on(m_target.stream, m_resources->done);
    m_resources->used = true;
    m_pool.put_back(std::exchange(m_resources, nullptr));
  }

  void copy(StreamQueue queue, void* dst, void const* src, std::size_t bytes) override {
    if (!m_one_stream && queue != StreamQueue::work) take_turns(copies_of(queue), bytes);
    Driver::copy(dst, src, bytes, stream_of(queue), m_target.device);
  }
  void launch(StreamLaunch const& launch) override { m_part.launcher(launch); }
  void record(StreamQueue queue, int event) override {
    if (!m_one_stream) record_on(stream_of(queue), m_resources->events[at(event)]);
  }
  void wait(StreamQueue queue, int event) override {
    if (!m_one_stream) wait_on(stream_of(queue), m_resources->events[at(event)]);
  }

 private:
  void* stream_of(StreamQueue queue) const {
    if (m_one_stream || queue == StreamQueue::work) return m_target.stream;
    return copies_of(queue).current;
  }
  CopyStreams& copies_of(StreamQueue queue) const {
    return queue == StreamQueue::in ? m_resources->in : m_resources->out;
  }
  void take_turns(CopyStreams& copies, std::size_t bytes) const {
    if (copies.copied >= m_part.turn) {
      record_on(copies.current, copies.turned);
      std::swap(copies.current, copies.other);
      wait_on(copies.current, copies.turned);
      copies.copied = 0;
    }
    copies.copied += bytes;
  }
  void record_on(void* stream, void*& event) const {
    Driver::record(event, stream, m_target.device);
  }
  void wait_on(void* stream, void* event) const {
    Driver::make_wait(stream, event, m_target.device);
  }
  // A stream of copies that was not made is none; for the caller's, nullptr is a default stream.
  void drain(void* stream) const noexcept {
    if (stream == nullptr && stream != m_target.stream) return;
    try {
      Driver::fence(stream, m_target.device);
    } catch (DeviceError const&) {  // has the cause of the error that is being reported
    }
  }

  StreamResourcePool& m_pool;
  StreamPart const& m_part;
  StreamTarget m_target;
  bool m_one_stream;
  std::shared_ptr<StreamResources> m_resources;
  StreamWalk m_walk;
};

void enqueue_round_robin(std::vector<std::unique_ptr<PartRun>> const& runs) {
  for (auto const& run : runs) run->begin();
  for (bool any = true; any;) {
    any = false;
    for (auto const& run : runs) any |= run->next_chunk();
  }
  for (auto const& run : runs) run->end();
}

}  // namespace

// Takes the resources of each device once at a time, in ascending order, as the pool demands.
void run_on_devices(std::vector<StreamPart> const& parts, StreamResourcePool& pool) {
  std::vector<StreamPart const*> left;
  for (StreamPart const& part : parts) left.push_back(&part);
  std::stable_sort(left.begin(), left.end(), [](StreamPart const* a, StreamPart const* b) {
    return a->target.device < b->target.device;
  });
  while (!left.empty()) {
    std::vector<std::unique_ptr<PartRun>> runs;
    std::vector<StreamPart const*> later;
    StreamPart const* last = nullptr;
    for (StreamPart const* const part : left) {
      if (last != nullptr && last->target.device == part->target.device)
        later.push_back(part);
      else
        runs.push_back(std::make_unique<PartRun>(*part, pool));
      last = part;
    }
    enqueue_round_robin(runs);
    left = std::move(later);
  }
}

}  // namespace KokkosHostSpaces::Impl
