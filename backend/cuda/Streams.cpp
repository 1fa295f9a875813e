// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: streams, their events, host functions and captures.

#include "Runtime.hpp"

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// The status of a stream; none after the runtime has shut down.
CUresult capture_status(Stream stream, CUstreamCaptureStatus& status) noexcept {
  status           = CU_STREAM_CAPTURE_STATUS_NONE;
  Runtime* const r = runtime();
  if (r == nullptr) return CUDA_SUCCESS;
  auto const ask = [&] {
    CUresult const result = r->stream_is_capturing(static_cast<CUstream>(stream), &status);
    return result == CUDA_ERROR_DEINITIALIZED ? CUDA_SUCCESS : result;
  };
  if (!is_default_stream(stream)) return ask();
  ContextInUse const context(*r);
  return ask();
}

}  // namespace

Stream private_stream(int device) {
  runtime_with_handles();
  Runtime& r = require_runtime();
  ContextInUse const in_use(r);
  if (device < 0) check(cudaGetDevice(&device), "cudaGetDevice", look_for_failed_work);
  if (device >= r.devices)
    check(cudaErrorInvalidDevice, "making a stream", "check the number of the device");
  auto& slot = r.private_streams[static_cast<std::size_t>(device)];
  if (cudaStream_t const stream = slot.load(std::memory_order_acquire)) return stream;
  std::lock_guard const lock(r.mutex);
  if (cudaStream_t const stream = slot.load(std::memory_order_relaxed)) return stream;
  auto const made = static_cast<cudaStream_t>(make_stream(device));
  slot.store(made, std::memory_order_release);
  return made;
}

Stream make_stream(int device) {
  Runtime& r = require_runtime();
  ContextOfDevice const context(r, device);
  CaptureTolerance const tolerance(r);
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        look_for_failed_work);
  return made;
}

void release_stream(Stream stream) noexcept {
  Runtime* const r = runtime_with_handles();
  if (r == nullptr || stream == nullptr) return;
  ContextInUse const context(*r);
  CaptureTolerance const tolerance(*r);
  succeeded(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
}

void make_wait(Stream stream, Event event, int device) {
  Runtime& r = require_runtime();
  ContextOfDevice const context(r, device);
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event), 0),
        "cudaStreamWaitEvent", look_for_failed_work);
}

void fence(Stream stream, int device) {
  Runtime& r = require_runtime();
  ContextOfStream const context(r, stream, device);
  CaptureTolerance const tolerance(r);
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize",
        look_for_failed_work);
}

void enqueue_host_function(Stream stream, void (*function)(void*), void* data) {
  ContextInUse const context(require_runtime());
  check(cudaLaunchHostFunc(static_cast<cudaStream_t>(stream), function, data), "cudaLaunchHostFunc",
        look_for_failed_work);
}

bool is_capturing(Stream stream) noexcept {
  CUstreamCaptureStatus status{};
  return capture_status(stream, status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// The legacy stream cannot capture; its status is an error while a blocking stream captures.
bool captures(Stream stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) return false;
  CUstreamCaptureStatus status{};
  if (capture_status(stream, status) != CUDA_SUCCESS)
    throw DeviceError(
        std::string("cuStreamIsCapturing failed (work on this stream may or may not go into a "
                    "graph): ") +
            look_for_failed_work,
        cudaErrorUnknown);
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void retain_in_capture(Stream stream, void* object, void (*release)(void*)) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id          = 0;
  cudaGraph_t graph              = nullptr;
  cudaUserObject_t owner         = nullptr;
  cudaError_t error =
      cudaUserObjectCreate(&owner, object, release, 1, cudaUserObjectNoDestructorSync);
  if (error != cudaSuccess) {
    release(object);
    check(error, "cudaUserObjectCreate", look_for_failed_work);
  }
  error = cudaStreamGetCaptureInfo(static_cast<cudaStream_t>(stream), &status, &id, &graph);
  if (error == cudaSuccess && status != cudaStreamCaptureStatusActive)
    error = cudaErrorStreamCaptureInvalidated;
  if (error == cudaSuccess)
    error = cudaGraphRetainUserObject(graph, owner, 1, cudaGraphUserObjectMove);
  if (error == cudaSuccess) return;
  //~ failure 9a
  succeeded(cudaUserObjectRelease(owner, 1));  // which releases the object
  check(error, "cudaGraphRetainUserObject", "look for a call that broke the capture");
}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
