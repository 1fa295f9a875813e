// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Stream capture in the fake runtime: captured work is dropped; what matters is which calls break
// it.

#include "FakeCudaMachine.hpp"

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

bool Machine::allows_unsafe_call() {
  bool allowed = true;
  for (CUstream_st* stream : all_streams()) {
    if (!stream->capture || !forbids(*stream->capture)) continue;
    stream->capture->valid = false;
    allowed                = false;
  }
  return allowed;
}

bool Machine::blocking_stream_captures(int device) const {
  for (CUstream_st const* stream : all_streams()) {
    if (stream->device == device && stream->blocking && stream->capture) return true;
  }
  return false;
}

CUresult stream_is_capturing(CUstream handle, CUstreamCaptureStatus* status) {
  if (CUresult const error = enter_driver("cuStreamIsCapturing")) return error;
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
  stream->capture = Capture{mode, std::this_thread::get_id()};
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  if (cudaError_t const error = enter_from_test("cudaStreamEndCapture")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  CUstream_st* const stream = m.find(handle);
  if (stream == nullptr || !stream->capture) return finish(cudaErrorIllegalState);
  bool const valid = stream->capture->valid;
  stream->capture.reset();
  *graph = valid ? new CUgraph_st : nullptr;
  return finish(valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
  if (cudaError_t const error = enter_from_test("cudaGraphDestroy")) return error;
  delete graph;
  return cudaSuccess;
}
}
