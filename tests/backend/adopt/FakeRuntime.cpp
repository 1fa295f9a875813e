// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a libcudart.so made of the fake runtime has in addition: functions that programs call, and
// backend/cuda/ does not. It has one device from the beginning.

#include "../../../backend/cuda/Runtime.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FailNth.hpp"
#include "../../support/FakeCuda.hpp"

#include <functional>
#include <utility>

#include <cuda_runtime_api.h>

namespace KokkosHostSpaces::Impl::Backend::Driver {
void forget_runtime() noexcept {}
}  // namespace KokkosHostSpaces::Impl::Backend::Driver

namespace {

std::function<void()> before_next;

__attribute__((constructor)) void start() {
  FakeCuda::reset(1);
  FakeCuda::stage_small_copies();
}

cudaError_t then_wait(cudaError_t error) {
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

[[maybe_unused]] cudaError_t copy_all(void* const* dsts, void const* const* srcs,
                                      size_t const* bytes, size_t count, cudaStream_t stream) {
  if (auto const before = std::exchange(before_next, nullptr)) before();
  for (size_t i = 0; i < count; ++i)
    if (cudaError_t const error =
            cudaMemcpyAsync(dsts[i], srcs[i], bytes[i], cudaMemcpyDefault, stream))
      return error;
  return cudaSuccess;
}

template <class Function>
Function* driver_function(char const* name) {
  FailNth::Exempt const exempt;
  static auto* const found = DeviceWork::driver_function<Function>(name);  // each has another type
  return found;
}

}  // namespace

/// A copy from a symbol, a batch, or a question for flags; once.
void call_before_next(std::function<void()> function) { before_next = std::move(function); }

extern "C" {

/// Of one runtime, where several are loaded.
std::size_t fake_runtime_copies() { return FakeCuda::calls("cudaMemcpyAsync"); }

cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  auto* const exchange =
      driver_function<CUresult(CUstreamCaptureMode*)>("cuThreadExchangeStreamCaptureMode");
  auto of_driver       = static_cast<CUstreamCaptureMode>(*mode);
  CUresult const error = exchange(&of_driver);
  *mode                = static_cast<cudaStreamCaptureMode>(of_driver);
  return static_cast<cudaError_t>(error);
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) {
#ifdef KOKKOS_HOST_SPACES_CUDA_12
  *version = 12080;
#else
  *version = CUDART_VERSION;
#endif
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceReset() {
  FakeCuda::reset(1);
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostGetFlags(unsigned* flags, void* host) {
  if (auto const before = std::exchange(before_next, nullptr)) before();
  cudaPointerAttributes attributes = {};
  cudaPointerGetAttributes(&attributes, host);
  *flags = cudaHostAllocPortable | cudaHostAllocMapped;
  return attributes.type == cudaMemoryTypeHost ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  auto* const ask =
      driver_function<CUresult(CUstream, CUstreamCaptureStatus*)>("cuStreamIsCapturing");
  CUstreamCaptureStatus of_driver = CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult const error            = ask(stream, &of_driver);
  *status                         = static_cast<cudaStreamCaptureStatus>(of_driver);
  return static_cast<cudaError_t>(error);
}

cudaError_t CUDARTAPI cudaMemcpy(void* dst, void const* src, size_t bytes, cudaMemcpyKind kind) {
  return then_wait(cudaMemcpyAsync(dst, src, bytes, kind, nullptr));
}

cudaError_t CUDARTAPI cudaMemcpy2D(void* dst, size_t dst_pitch, void const* src, size_t src_pitch,
                                   size_t width, size_t height, cudaMemcpyKind kind) {
  return then_wait(cudaMemcpy2DAsync(dst, dst_pitch, src, src_pitch, width, height, kind, nullptr));
}

cudaError_t CUDARTAPI cudaMemcpy3D(cudaMemcpy3DParms const* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  return then_wait(cudaMemcpy3DAsync(parameters, nullptr));
}

// Of CUDA 13.2; older headers do not declare it.
int copy_with_attributes(void* dst, void const* src, size_t bytes, void*,
                         cudaStream_t stream) asm("cudaMemcpyWithAttributesAsync");
int copy_with_attributes(void* dst, void const* src, size_t bytes, void*, cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream);
}

// A symbol is the address of its memory.
cudaError_t CUDARTAPI cudaMemcpyToSymbolAsync(void const* symbol, void const* src, size_t bytes,
                                              size_t offset, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
  auto* const dst = static_cast<char*>(const_cast<void*>(symbol)) + offset;
  return cudaMemcpyAsync(dst, src, bytes, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbolAsync(void* dst, void const* symbol, size_t bytes,
                                                size_t offset, cudaMemcpyKind kind,
                                                cudaStream_t stream) {
  if (auto const before = std::exchange(before_next, nullptr)) before();
  return cudaMemcpyAsync(dst, static_cast<char const*>(symbol) + offset, bytes, kind, stream);
}

#ifdef KOKKOS_HOST_SPACES_CUDA_12
cudaError_t batch(void** dsts, void** srcs, size_t* bytes, size_t count, void*, size_t*, size_t,
                  size_t*, cudaStream_t stream) asm("cudaMemcpyBatchAsync");
cudaError_t batch(void** dsts, void** srcs, size_t* bytes, size_t count, void*, size_t*, size_t,
                  size_t*, cudaStream_t stream) {
  return copy_all(dsts, srcs, bytes, count, stream);
}
#elif CUDART_VERSION >= 13000
cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void* const* dsts, void const* const* srcs,
                                           size_t const* bytes, size_t count, cudaMemcpyAttributes*,
                                           size_t*, size_t, cudaStream_t stream) {
  return copy_all(dsts, srcs, bytes, count, stream);
}
#endif

cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void* dst, void const* src, size_t bytes,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, bytes, kind, stream);
}

}  // extern "C"
