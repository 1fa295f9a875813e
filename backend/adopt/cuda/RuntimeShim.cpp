// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "RuntimeNames.hpp"

#include "../Objects.hpp"

#include <cuda_runtime_api.h>

namespace Objects = KokkosHostSpaces::Impl::Backend::Adopt::Objects;

// Defines a function that calls the one of that name, behind `cuda`, which the program uses.
#define KHS_FORWARD(result, name, absent, parameters, arguments)                                  \
  result CUDARTAPI khs_next_cuda##name parameters {                                               \
    static auto* const next =                                                                     \
        reinterpret_cast<result(*) parameters>(Objects::find_next("cuda" #name, "libcudart.so")); \
    return next != nullptr ? next arguments : absent;                                             \
  }
#define KHS_FORWARD_CALL(name, parameters, arguments) \
  KHS_FORWARD(cudaError_t, name, cudaErrorUnknown, parameters, arguments)

extern "C" {

KHS_FORWARD_CALL(DeviceGetAttribute, (int* value, cudaDeviceAttr what, int device),
                 (value, what, device))
KHS_FORWARD_CALL(DeviceGetPCIBusId, (char* text, int length, int device), (text, length, device))
KHS_FORWARD_CALL(Free, (void* pointer), (pointer))
KHS_FORWARD_CALL(FreeHost, (void* pointer), (pointer))
KHS_FORWARD_CALL(GetDevice, (int* device), (device))
KHS_FORWARD_CALL(GetDeviceCount, (int* count), (count))
KHS_FORWARD_CALL(GetLastError, (), ())
KHS_FORWARD_CALL(HostAlloc, (void** pointer, size_t bytes, unsigned flags), (pointer, bytes, flags))
KHS_FORWARD_CALL(HostGetDevicePointer, (void** device, void* host, unsigned flags),
                 (device, host, flags))
KHS_FORWARD_CALL(HostRegister, (void* pointer, size_t bytes, unsigned flags),
                 (pointer, bytes, flags))
KHS_FORWARD_CALL(HostUnregister, (void* pointer), (pointer))
KHS_FORWARD_CALL(LaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* data),
                 (stream, function, data))
KHS_FORWARD_CALL(Malloc, (void** pointer, size_t bytes), (pointer, bytes))
KHS_FORWARD_CALL(MemcpyAsync,
                 (void* dst, void const* src, size_t bytes, cudaMemcpyKind kind,
                  cudaStream_t stream),
                 (dst, src, bytes, kind, stream))
KHS_FORWARD_CALL(PointerGetAttributes, (cudaPointerAttributes * to, void const* pointer),
                 (to, pointer))
KHS_FORWARD_CALL(SetDevice, (int device), (device))
KHS_FORWARD_CALL(StreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
KHS_FORWARD_CALL(StreamDestroy, (cudaStream_t stream), (stream))
KHS_FORWARD_CALL(StreamSynchronize, (cudaStream_t stream), (stream))
KHS_FORWARD(char const*, GetErrorName, "unknown", (cudaError_t error), (error))
KHS_FORWARD(char const*, GetErrorString, "unknown", (cudaError_t error), (error))

using GetEntryPoint          = cudaError_t CUDARTAPI(char const*, void**, unsigned long long,
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
                                                       unsigned version, unsigned long long flags,
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
