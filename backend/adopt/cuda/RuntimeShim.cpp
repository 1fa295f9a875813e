// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "RuntimeNames.hpp"

#include "../Objects.hpp"

#include <cuda_runtime_api.h>

namespace Objects = KokkosHostSpaces::Impl::Backend::Adopt::Objects;

// Defines a function that calls the one of that name which the program uses.
#define KHS_FORWARD(result, name, absent, parameters, arguments)                               \
  result CUDARTAPI name parameters {                                                           \
    static auto* const next =                                                                  \
        reinterpret_cast<result(*) parameters>(Objects::find_next(#name, "libcudart.so"));     \
    return next != nullptr ? next arguments : absent;                                          \
  }
#define KHS_FORWARD_CALL(name, parameters, arguments) \
  KHS_FORWARD(cudaError_t, name, cudaErrorUnknown, parameters, arguments)

extern "C" {

KHS_FORWARD_CALL(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr what, int device),
                 (value, what, device))
KHS_FORWARD_CALL(cudaDeviceGetPCIBusId, (char* text, int length, int device),
                 (text, length, device))
KHS_FORWARD_CALL(cudaFree, (void* pointer), (pointer))
KHS_FORWARD_CALL(cudaFreeHost, (void* pointer), (pointer))
KHS_FORWARD_CALL(cudaGetDevice, (int* device), (device))
KHS_FORWARD_CALL(cudaGetDeviceCount, (int* count), (count))
KHS_FORWARD_CALL(cudaGetLastError, (), ())
KHS_FORWARD_CALL(cudaHostAlloc, (void** pointer, size_t bytes, unsigned flags),
                 (pointer, bytes, flags))
KHS_FORWARD_CALL(cudaHostGetDevicePointer, (void** device, void* host, unsigned flags),
                 (device, host, flags))
KHS_FORWARD_CALL(cudaHostRegister, (void* pointer, size_t bytes, unsigned flags),
                 (pointer, bytes, flags))
KHS_FORWARD_CALL(cudaHostUnregister, (void* pointer), (pointer))
KHS_FORWARD_CALL(cudaMalloc, (void** pointer, size_t bytes), (pointer, bytes))
KHS_FORWARD_CALL(cudaMemcpyAsync,
                 (void* dst, void const* src, size_t bytes, cudaMemcpyKind kind,
                  cudaStream_t stream),
                 (dst, src, bytes, kind, stream))
KHS_FORWARD_CALL(cudaPointerGetAttributes, (cudaPointerAttributes* to, void const* pointer),
                 (to, pointer))
KHS_FORWARD_CALL(cudaSetDevice, (int device), (device))
KHS_FORWARD_CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
                 (stream, flags))
KHS_FORWARD_CALL(cudaStreamDestroy, (cudaStream_t stream), (stream))
KHS_FORWARD_CALL(cudaStreamSynchronize, (cudaStream_t stream), (stream))
KHS_FORWARD(char const*, cudaGetErrorName, "unknown", (cudaError_t error), (error))
KHS_FORWARD(char const*, cudaGetErrorString, "unknown", (cudaError_t error), (error))

using GetEntryPoint = cudaError_t CUDARTAPI(char const*, void**, unsigned long long,
                                            cudaDriverEntryPointQueryResult*);
using GetEntryPointByVersion = cudaError_t CUDARTAPI(char const*, void**, unsigned,
                                                     unsigned long long,
                                                     cudaDriverEntryPointQueryResult*);

static cudaError_t get_entry_point(char const* name, void** function, unsigned long long flags,
                                   cudaDriverEntryPointQueryResult* status) {
  static auto* const next = reinterpret_cast<GetEntryPoint*>(
      Objects::find_next("cudaGetDriverEntryPoint", "libcudart.so"));
  return next != nullptr ? next(name, function, flags, status) : cudaErrorUnknown;
}

#if CUDART_VERSION >= 12050
// The program may have an older runtime than this library was built with.
cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(char const* name, void** function,
                                                       unsigned version,
                                                       unsigned long long flags,
                                                       cudaDriverEntryPointQueryResult* status) {
  static auto* const next = reinterpret_cast<GetEntryPointByVersion*>(
      Objects::find_next("cudaGetDriverEntryPointByVersion", "libcudart.so"));
  return next != nullptr ? next(name, function, version, flags, status)
                         : get_entry_point(name, function, flags, status);
}
#else
cudaError_t CUDARTAPI cudaGetDriverEntryPoint(char const* name, void** function,
                                              unsigned long long flags,
                                              cudaDriverEntryPointQueryResult* status) {
  return get_entry_point(name, function, flags, status);
}
#endif

}  // extern "C"
