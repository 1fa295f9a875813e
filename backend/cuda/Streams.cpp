// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: streams of our own, which wait for each other by
// events, and memory for them.

#include "Runtime.hpp"

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// Makes the context of a device the calling thread's, if it is not.
class OnDevice {
 public:
  OnDevice(Runtime& r, int device) {
    CUcontext const wanted = context_of(r, device);
    CUcontext current      = nullptr;
    if (r.current_context(&current) == CUDA_SUCCESS && current == wanted) return;
    m_scope.emplace(r, wanted);
    if (!m_scope->pushed()) check(cudaErrorInvalidValue, "cuCtxPushCurrent", look_for_failed_work);
  }

 private:
  static CUcontext context_of(Runtime& r, int device) {
    CUcontext context = nullptr;
    if (r.context_of(device, context, Runtime::Absent::make) != Runtime::Context::in_use)
      check(cudaErrorInvalidDevice, "cuDevicePrimaryCtxRetain", "check the number of the device");
    return context;
  }

  std::optional<ContextScope> m_scope;
};

// Handles of other streams say their device.
class OnDeviceOfDefaultStream {
 public:
  OnDeviceOfDefaultStream(Stream stream, int device) {
    if (is_default_stream(stream)) m_scope.emplace(require_runtime(), device);
  }

 private:
  std::optional<OnDevice> m_scope;
};

}  // namespace

void call_behind(Stream stream, void (*function)(void*), void* data) {
  ContextInUse const context(require_runtime());
  check(cudaLaunchHostFunc(static_cast<cudaStream_t>(stream), function, data), "cudaLaunchHostFunc",
        look_for_failed_work);
}

bool is_capturing(Stream stream) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr) return false;
  std::optional<ContextInUse> context;  // that a default stream is of
  if (is_default_stream(stream)) context.emplace(*r);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return r->stream_is_capturing(static_cast<CUstream>(stream), &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Stream make_stream(int device) {
  Runtime& r = require_runtime();
  OnDevice const on_device(r, device);
  CaptureTolerance const tolerance(r);
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        look_for_failed_work);
  return made;
}

void release_stream(Stream stream) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr || stream == nullptr) return;
  ContextInUse const context(*r);
  CaptureTolerance const tolerance(*r);
  succeeded(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
}

void* allocate_on_device(int device, std::size_t bytes) {
  Runtime& r = require_runtime();
  OnDevice const on_device(r, device);
  CaptureTolerance const tolerance(r);
  void* memory            = nullptr;
  cudaError_t const error = cudaMalloc(&memory, bytes);
  if (error != cudaErrorMemoryAllocation) check(error, "cudaMalloc", look_for_failed_work);
  return succeeded(error) ? memory : nullptr;
}

void free_on_device(void* pointer) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr || pointer == nullptr) return;
  ContextInUse const context(*r);
  CaptureTolerance const tolerance(*r);
  succeeded(cudaFree(pointer));
}

void record(Event& event, Stream stream, int device) {
  Runtime& r = require_runtime();
  OnDevice const on_device(r, device);
  if (event == nullptr) {
    CUevent made          = nullptr;
    CUresult const result = r.create_event(&made, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS)
      check(cudaErrorMemoryAllocation, "cuEventCreate", look_for_failed_work);
    event = made;
  }
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)),
        "cudaEventRecord", look_for_failed_work);
}

void make_wait(Stream stream, Event event, int device) {
  Runtime& r = require_runtime();
  OnDevice const on_device(r, device);
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event), 0),
        "cudaStreamWaitEvent", look_for_failed_work);
}

void copy(void* dst, void const* src, std::size_t bytes, Stream stream, int device) {
  OnDeviceOfDefaultStream const on_device(stream, device);
  copy(dst, src, bytes, stream);
}

void fence(Stream stream, int device) {
  OnDeviceOfDefaultStream const on_device(stream, device);
  fence(stream);
}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
