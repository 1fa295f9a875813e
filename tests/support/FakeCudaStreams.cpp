// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The fake runtime's streams: queues run by a thread each. Work of the legacy stream and of
// blocking streams waits for each other, as in the real one.

#include "FailNth.hpp"
#include "FakeCudaMachine.hpp"

#include <algorithm>

namespace FakeCuda {

namespace {

void run(Machine& m, CUstream_st& stream) {
  std::unique_lock lock(m.mutex);
  while (true) {
    m.changed.wait(lock, [&] {
      return stream.queue.empty() ? stream.stop : Machine::all_done(stream.queue.front().after);
    });
    if (stream.queue.empty()) return;
    Task task = std::move(stream.queue.front());
    stream.queue.pop_front();
    if (task.run) {
      lock.unlock();
      task.run();
      lock.lock();
    }
    task.ticket->done = true;
    m.changed.notify_all();
  }
}

bool is_legacy(CUstream handle) { return handle == nullptr || handle == cudaStreamLegacy; }

}  // namespace

CUstream_st* Machine::find(CUstream handle) {
  if (is_legacy(handle)) return &current().legacy;
  auto const found = std::find_if(streams.begin(), streams.end(),
                                  [&](auto const& stream) { return stream.get() == handle; });
  return found == streams.end() ? nullptr : found->get();
}

std::vector<CUstream_st*> Machine::all_streams() const {
  std::vector<CUstream_st*> result;
  for (auto const& context : contexts) result.push_back(&context->legacy);
  for (auto const& stream : streams) result.push_back(stream.get());
  return result;
}

cudaError_t Machine::submit(CUstream handle, std::function<void()> work,
                            std::shared_ptr<Ticket>* ticket) {
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture) {
    if (!stream->capture->valid) return cudaErrorStreamCaptureInvalidated;
    stream->capture->graph->work.push_back(std::move(work));
    return cudaSuccess;
  }
  if (is_legacy(handle) && !allows_legacy_stream()) return cudaErrorStreamCaptureImplicit;
  Task task{std::move(work), {}, std::make_shared<Ticket>()};
  for (CUstream_st* other : all_streams()) {
    bool const ordered =
        other->device == stream->device &&
        (is_legacy(handle) ? other->blocking : stream->blocking && other == &current().legacy);
    if (ordered && other->last) task.after.push_back(other->last);
  }
  stream->last = task.ticket;
  if (ticket != nullptr) *ticket = task.ticket;
  stream->queue.push_back(std::move(task));
  if (!stream->worker.joinable())
    stream->worker = std::thread([this, stream] {
      FailNth::Exempt const of_device;
      run(*this, *stream);
    });
  changed.notify_all();
  return cudaSuccess;
}

Tickets Machine::pending_work(int device) const {
  Tickets result;
  for (CUstream_st const* stream : all_streams()) {
    if ((device < 0 || stream->device == device) && stream->last) result.push_back(stream->last);
  }
  return result;
}

bool Machine::all_done(Tickets const& tickets) {
  return std::all_of(tickets.begin(), tickets.end(),
                     [](auto const& ticket) { return ticket->done; });
}

void Machine::wait_for(std::unique_lock<Mutex>& lock, Tickets const& tickets) {
  changed.wait(lock, [&] { return all_done(tickets); });
}

void Machine::join(std::unique_lock<Mutex>& lock, CUstream_st& stream) {
  stream.stop = true;
  changed.notify_all();
  if (!stream.worker.joinable()) return;
  lock.unlock();
  stream.worker.join();
  lock.lock();
}

}  // namespace FakeCuda

using namespace FakeCuda;

extern "C" {

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  if (cudaError_t const error = enter("cudaStreamCreateWithFlags")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  auto made      = std::make_unique<CUstream_st>();
  made->device   = m.current().device;
  made->blocking = (flags & cudaStreamNonBlocking) == 0;
  *stream        = made.get();
  m.streams.push_back(std::move(made));
  return cudaSuccess;
}

// The real one returns at once and lets queued work finish; this one waits for it.
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t handle) {
  if (cudaError_t const error = enter_from_test("cudaStreamDestroy")) return error;
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  CUstream_st* const stream = m.find(handle);
  if (stream == nullptr || stream == &m.current().legacy)
    return finish(cudaErrorInvalidResourceHandle);
  m.join(lock, *stream);
  std::erase_if(m.streams, [&](auto const& other) { return other.get() == stream; });
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t handle) {
  if (cudaError_t const error = enter("cudaStreamSynchronize")) return error;
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  m.current();
  CUstream_st* const stream = m.find(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (is_legacy(handle) && !m.allows_legacy_stream()) return finish(cudaErrorStreamCaptureImplicit);
  if (!m.allows_question_about(*stream)) return finish(cudaErrorStreamCaptureUnsupported);
  if (stream->last) m.wait_for(lock, {stream->last});
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t handle) {
  if (cudaError_t const error = enter_from_test("cudaStreamQuery")) return error;
  std::lock_guard const lock(machine().mutex);
  CUstream_st* const stream = machine().find(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (!machine().allows_question_about(*stream)) return finish(cudaErrorStreamCaptureUnsupported);
  return finish(!stream->last || stream->last->done ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (cudaError_t const error = enter_from_test("cudaLaunchHostFunc")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  return finish(m.submit(stream, [=] { function(data); }));
}
}
