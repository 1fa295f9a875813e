// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The functions of the CUDA runtime for copies and launches, in front of the real ones.

#include "DriverSpy.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <mutex>
#include <string>

namespace {

std::mutex mutex;
DriverSpy* spy = nullptr;

template <class Function>
Function* real(Function*, char const* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

DriverSpy::DriverSpy() {
  std::lock_guard const lock(mutex);
  spy = this;
}

DriverSpy::~DriverSpy() {
  std::lock_guard const lock(mutex);
  spy = nullptr;
}

void DriverSpy::copied(std::size_t bytes, void* stream) {
  std::lock_guard const lock(mutex);
  if (spy == nullptr) return;
  ++spy->copies;
  spy->bytes += bytes;
  spy->streams.insert(stream);
}

void DriverSpy::copied_batch(std::size_t const* bytes, std::size_t count, void* stream) {
  std::lock_guard const lock(mutex);
  if (spy == nullptr) return;
  ++spy->batches;
  for (std::size_t i = 0; i < count; ++i) spy->bytes += bytes[i];
  spy->streams.insert(stream);
}

void DriverSpy::launched() {
  std::lock_guard const lock(mutex);
  if (spy != nullptr) ++spy->launches;
}

// nvcc knows functions of these names for device code, so that the linker's names are given apart.
extern "C" {
cudaError_t spied_copy(void* dst, void const* src, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream) __asm__("cudaMemcpyAsync");
cudaError_t spied_copy_2d(void* dst, std::size_t dst_pitch, void const* src, std::size_t src_pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind,
                          cudaStream_t stream) __asm__("cudaMemcpy2DAsync");
cudaError_t spied_copy_3d(cudaMemcpy3DParms const* parameters,
                          cudaStream_t stream) __asm__("cudaMemcpy3DAsync");
cudaError_t spied_graph(cudaGraphExec_t graph, cudaStream_t stream) __asm__("cudaGraphLaunch");
#if CUDART_VERSION >= 12080
// Who asks for a function of the driver.
cudaError_t spied_entry(
    char const* name, void** function, unsigned version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* status) __asm__("cudaGetDriverEntryPointByVersion");
#endif
#if CUDART_VERSION >= 13000
// What `<<<>>>` becomes.
cudaError_t spied_launch(void const* kernel, dim3 grid, dim3 block, void** arguments,
                         std::size_t shared, cudaStream_t stream) __asm__("__cudaLaunchKernel");
#else
cudaError_t spied_launch(void const* kernel, dim3 grid, dim3 block, void** arguments,
                         std::size_t shared, cudaStream_t stream) __asm__("cudaLaunchKernel");
#endif
}

cudaError_t spied_graph(cudaGraphExec_t graph, cudaStream_t stream) {
  DriverSpy::launched();
  return real(&spied_graph, "cudaGraphLaunch")(graph, stream);
}

cudaError_t spied_launch(void const* kernel, dim3 grid, dim3 block, void** arguments,
                         std::size_t shared, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  char const* const name = "__cudaLaunchKernel";
#else
  char const* const name = "cudaLaunchKernel";
#endif
  DriverSpy::launched();
  return real(&spied_launch, name)(kernel, grid, block, arguments, shared, stream);
}

cudaError_t spied_copy(void* dst, void const* src, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  DriverSpy::copied(bytes, stream);
  return real(&spied_copy, "cudaMemcpyAsync")(dst, src, bytes, kind, stream);
}

cudaError_t spied_copy_2d(void* dst, std::size_t dst_pitch, void const* src, std::size_t src_pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind,
                          cudaStream_t stream) {
  DriverSpy::copied(width * height, stream);
  return real(&spied_copy_2d, "cudaMemcpy2DAsync")(dst, dst_pitch, src, src_pitch, width, height,
                                                   kind, stream);
}

cudaError_t spied_copy_3d(cudaMemcpy3DParms const* parameters, cudaStream_t stream) {
  cudaExtent const& box = parameters->extent;
  DriverSpy::copied(box.width * box.height * box.depth, stream);
  return real(&spied_copy_3d, "cudaMemcpy3DAsync")(parameters, stream);
}

#if CUDART_VERSION >= 12080

namespace {

using CopyBatch       = CUresult CUDAAPI(CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
                                         CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*,
                                         CUstream);
CopyBatch* real_batch = nullptr;

CUresult CUDAAPI spied_batch(CUdeviceptr* dsts, CUdeviceptr* srcs, std::size_t* bytes,
                             std::size_t count, CUmemcpyAttributes* attributes, std::size_t* firsts,
                             std::size_t kinds, std::size_t* failed, CUstream stream) {
  DriverSpy::copied_batch(bytes, count, stream);
  return real_batch(dsts, srcs, bytes, count, attributes, firsts, kinds, failed, stream);
}

}  // namespace

cudaError_t spied_entry(char const* name, void** function, unsigned version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  cudaError_t const error = real(&spied_entry, "cudaGetDriverEntryPointByVersion")(
      name, function, version, flags, status);
  if (error != cudaSuccess || *function == nullptr || std::string(name) != "cuMemcpyBatchAsync")
    return error;
  real_batch = reinterpret_cast<CopyBatch*>(*function);
  *function  = reinterpret_cast<void*>(&spied_batch);
  return error;
}

#endif
