// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Stream capture in the fake runtime: which calls break it, and graphs that replay what was captured
// in its order.

#include "FakeCudaMachine.hpp"

#include <algorithm>
#include <utility>

namespace FakeCuda {

namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// Does this capture forbid unsafe calls to the calling thread?
bool forbids(Capture const& capture) {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (capture.owner == std::this_thread::get_id())
    return capture.mode != cudaStreamCaptureModeRelaxed;
  return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
         capture.mode == cudaStreamCaptureModeGlobal;
}

}  // namespace

// A call that was made to fail may have left it.
void reset_thread_mode() { thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL; }

UserObject::~UserObject() {
  without_runtime([this] { destroy(pointer); });
}

// True if there was none.
template <class Which>
bool Machine::break_captures(Which const& which) {
  bool none = true;
  for (CUstream_st* const stream : all_streams()) {
    if (!stream->capture || !which(*stream)) continue;
    stream->capture->valid = false;
    none                   = false;
  }
  return none;
}

bool Machine::allows_unsafe_call() {
  return break_captures([](CUstream_st const& stream) { return forbids(*stream.capture); });
}

bool Machine::allows_question_about(CUstream_st& stream) {
  return stream.capture
             ? break_captures([&](CUstream_st const& other) { return &other == &stream; })
             : allows_unsafe_call();
}

bool Machine::allows_legacy_stream() {
  return break_captures([device = current().device](CUstream_st const& stream) {
    return stream.device == device && stream.blocking;
  });
}

bool Machine::allows_synchronization(int device) {
  return break_captures([=](CUstream_st const& stream) { return stream.device == device; });
}

bool Machine::blocking_stream_captures(int device) const {
  auto const all = all_streams();
  return std::any_of(all.begin(), all.end(), [=](CUstream_st const* stream) {
    return stream->device == device && stream->blocking && stream->capture;
  });
}

CUresult stream_is_capturing(CUstream handle, CUstreamCaptureStatus* status) {
  if (CUresult const error = enter_driver("cuStreamIsCapturing")) return error;
  if (handle == CU_STREAM_PER_THREAD) {  // takes no work here, and so never captures
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  }
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  CUstream_st const* const stream = m.find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  bool const legacy = stream == &m.current().legacy;
  if (legacy && m.blocking_stream_captures(stream->device))
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = !stream->capture         ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                     : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_SUCCESS;
}

CUresult exchange_capture_mode(CUstreamCaptureMode* mode) {
  if (CUresult const error = enter_driver("cuThreadExchangeStreamCaptureMode")) return error;
  std::swap(*mode, thread_mode);
  return CUDA_SUCCESS;
}

}  // namespace FakeCuda

using namespace FakeCuda;

extern "C" {

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  if (cudaError_t const error = enter_from_test("cudaStreamBeginCapture")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  CUstream_st* const stream = m.find(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (stream == &m.current().legacy) return finish(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return finish(cudaErrorIllegalState);
  stream->capture.emplace(
      Capture{mode, std::this_thread::get_id(), std::make_unique<CUgraph_st>()});
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  if (cudaError_t const error = enter_from_test("cudaStreamEndCapture")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  CUstream_st* const stream = m.find(handle);
  if (stream == nullptr || !stream->capture) return finish(cudaErrorIllegalState);
  Capture capture = *std::exchange(stream->capture, std::nullopt);
  *graph          = capture.valid ? capture.graph.release() : nullptr;
  return finish(capture.valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
  if (cudaError_t const error = enter_from_test("cudaGraphDestroy")) return error;
  delete graph;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                           unsigned long long) {
  if (cudaError_t const error = enter_from_test("cudaGraphInstantiate")) return error;
  *made = new CUgraphExec_st{*graph};
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graph) {
  if (cudaError_t const error = enter_from_test("cudaGraphExecDestroy")) return error;
  delete graph;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (cudaError_t const error = enter_from_test("cudaGraphLaunch")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  return finish(m.submit(stream, [launched = *graph] {
    for (auto const& work : launched.work) work();
  }));
}

#if CUDART_VERSION >= 13000
cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                               unsigned long long*, cudaGraph_t* graph,
                                               cudaGraphNode_t const**, cudaGraphEdgeData const**,
                                               std::size_t*) {
#else
cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                               unsigned long long*, cudaGraph_t* graph,
                                               cudaGraphNode_t const**, std::size_t*) {
#endif
  if (cudaError_t const error = enter("cudaStreamGetCaptureInfo")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  CUstream_st* const stream = m.find(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  *status = !stream->capture         ? cudaStreamCaptureStatusNone
            : stream->capture->valid ? cudaStreamCaptureStatusActive
                                     : cudaStreamCaptureStatusInvalidated;
  *graph  = stream->capture ? stream->capture->graph.get() : nullptr;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t* made, void* pointer,
                                           cudaHostFn_t destroy, unsigned int references,
                                           unsigned int flags) {
  if (cudaError_t const error = enter("cudaUserObjectCreate")) return error;
  FailNth::Exempt const exempt;
  if (references != 1 || flags != cudaUserObjectNoDestructorSync)
    return finish(cudaErrorInvalidValue);
  auto object = std::make_shared<UserObject>(pointer, destroy);
  *made       = reinterpret_cast<cudaUserObject_t>(object.get());
  std::lock_guard const lock(machine().mutex);
  machine().user_objects[*made] = std::move(object);
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t object, unsigned int) {
  if (cudaError_t const error = enter("cudaUserObjectRelease")) return error;
  std::unique_lock lock(machine().mutex);
  auto const released = machine().user_objects.extract(object);
  lock.unlock();
  return finish(released.empty() ? cudaErrorInvalidResourceHandle : cudaSuccess);
}

cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                unsigned int, unsigned int flags) {
  if (cudaError_t const error = enter("cudaGraphRetainUserObject")) return error;
  std::lock_guard const lock(machine().mutex);
  auto const found = machine().user_objects.find(object);
  if (found == machine().user_objects.end() || flags != cudaGraphUserObjectMove)
    return finish(cudaErrorInvalidValue);
  graph->owned.push_back(std::move(found->second));
  machine().user_objects.erase(found);
  return cudaSuccess;
}
}
