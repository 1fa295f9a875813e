// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The fake runtime's events: the work that was pending when they were recorded.

#include "FakeCudaMachine.hpp"

namespace FakeCuda {

// As the real one, it breaks every capture of the context when there is one.
CUresult record_context_event(CUcontext context, CUevent event) {
  if (CUresult const error = enter_driver("cuCtxRecordEvent")) return error;
  Machine& m = machine();
  std::shared_lock const waits_for_registrations(m.being_registered);
  std::lock_guard const lock(m.mutex);
  if (m.events.count(event) == 0 || event->device != context->device)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!m.allows_synchronization(context->device)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  event->tickets = m.pending_work(context->device);
  return CUDA_SUCCESS;
}

CUresult create_event(CUevent* event, unsigned int) {
  if (CUresult const error = enter_driver("cuEventCreate")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  *event = *m.events.insert(new CUevent_st{m.current().device, {}}).first;
  return CUDA_SUCCESS;
}

CUresult query_event(CUevent event) {
  if (CUresult const error = enter_driver("cuEventQuery")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (!m.allows_unsafe_call()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (m.events.count(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  return Machine::all_done(event->tickets) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult synchronize_event(CUevent event) {
  if (CUresult const error = enter_driver("cuEventSynchronize")) return error;
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  if (!m.allows_unsafe_call()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (m.events.count(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  m.wait_for(lock, Tickets(event->tickets));
  return CUDA_SUCCESS;
}

CUresult destroy_event(CUevent event) {
  if (CUresult const error = enter_driver("cuEventDestroy")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (m.events.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}

}  // namespace FakeCuda

using namespace FakeCuda;

extern "C" {

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  if (cudaError_t const error = enter("cudaEventRecord")) return error;
  std::lock_guard const lock(machine().mutex);
  CUstream_st* const stream = machine().find(handle);
  if (stream == nullptr || machine().events.count(event) == 0 || event->device != stream->device)
    return finish(cudaErrorInvalidResourceHandle);
  if (stream == &machine().current().legacy && !machine().allows_legacy_stream())
    return finish(cudaErrorStreamCaptureImplicit);
  event->tickets = stream->last ? Tickets{stream->last} : Tickets{};
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin,
                                           cudaEvent_t end) {
  if (cudaError_t const error = enter("cudaEventElapsedTime")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (!m.allows_unsafe_call()) return finish(cudaErrorStreamCaptureUnsupported);
  if (m.events.count(begin) == 0 || m.events.count(end) == 0)
    return finish(cudaErrorInvalidResourceHandle);
  if (!Machine::all_done(begin->tickets) || !Machine::all_done(end->tickets))
    return finish(cudaErrorNotReady);
  *milliseconds = m.between_events;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int) {
  if (cudaError_t const error = enter("cudaStreamWaitEvent")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (m.events.count(event) == 0) return finish(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = m.find(handle);
  if (stream != nullptr && stream->capture) {  // no event of this runtime is recorded in a capture
    stream->capture->valid = false;
    return finish(cudaErrorStreamCaptureIsolation);
  }
  if (cudaError_t const error = m.submit(handle, [] {})) return finish(error);
  Task& task = m.find(handle)->queue.back();
  task.run   = nullptr;
  task.after.insert(task.after.end(), event->tickets.begin(), event->tickets.end());
  return cudaSuccess;
}
}
