// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Included before the sources of backend/cuda/ that the library to preload contains: what they call is
// found in the process when it is called first, behind this library. So nothing links to the CUDA
// runtime, and the calls of this library are not those that it interposes.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_CUDA_RUNTIME_NAMES_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_CUDA_RUNTIME_NAMES_HPP

#include "../Next.hpp"

#include <cuda_runtime_api.h>

#define KHS_NEXT(name, result, ...) \
  ::KokkosHostSpaces::Impl::Backend::Adopt::call_next<#name, result>(__VA_ARGS__)

#if CUDART_VERSION >= 12050
namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// The program may have an older runtime than this library was built with.
inline cudaError_t find_driver_function(char const* name, void** function, unsigned version,
                                        unsigned long long flags,
                                        cudaDriverEntryPointQueryResult* status) {
  if (Objects::find_next("cudaGetDriverEntryPointByVersion", "libcudart.so") == nullptr)
    return call_next<"cudaGetDriverEntryPoint", cudaError_t>(name, function, flags, status);
  return call_next<"cudaGetDriverEntryPointByVersion", cudaError_t>(name, function, version, flags,
                                                                    status);
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#define cudaGetDriverEntryPointByVersion \
  ::KokkosHostSpaces::Impl::Backend::Adopt::find_driver_function
#else
#define cudaGetDriverEntryPoint(...) KHS_NEXT(cudaGetDriverEntryPoint, cudaError_t, __VA_ARGS__)
#endif

#define cudaDeviceGetAttribute(...) KHS_NEXT(cudaDeviceGetAttribute, cudaError_t, __VA_ARGS__)
#define cudaFreeHost(...) KHS_NEXT(cudaFreeHost, cudaError_t, __VA_ARGS__)
#define cudaGetDevice(...) KHS_NEXT(cudaGetDevice, cudaError_t, __VA_ARGS__)
#define cudaGetDeviceCount(...) KHS_NEXT(cudaGetDeviceCount, cudaError_t, __VA_ARGS__)
#define cudaGetErrorName(...) KHS_NEXT(cudaGetErrorName, char const*, __VA_ARGS__)
#define cudaGetErrorString(...) KHS_NEXT(cudaGetErrorString, char const*, __VA_ARGS__)
#define cudaGetLastError(...) KHS_NEXT(cudaGetLastError, cudaError_t, __VA_ARGS__)
#define cudaHostAlloc(...) KHS_NEXT(cudaHostAlloc, cudaError_t, __VA_ARGS__)
#define cudaHostGetDevicePointer(...) KHS_NEXT(cudaHostGetDevicePointer, cudaError_t, __VA_ARGS__)
#define cudaHostRegister(...) KHS_NEXT(cudaHostRegister, cudaError_t, __VA_ARGS__)
#define cudaHostUnregister(...) KHS_NEXT(cudaHostUnregister, cudaError_t, __VA_ARGS__)
#define cudaLaunchHostFunc(...) KHS_NEXT(cudaLaunchHostFunc, cudaError_t, __VA_ARGS__)
#define cudaMalloc(...) KHS_NEXT(cudaMalloc, cudaError_t, __VA_ARGS__)
#define cudaMemcpyAsync(...) KHS_NEXT(cudaMemcpyAsync, cudaError_t, __VA_ARGS__)
#define cudaStreamCreateWithFlags(...) KHS_NEXT(cudaStreamCreateWithFlags, cudaError_t, __VA_ARGS__)
#define cudaStreamSynchronize(...) KHS_NEXT(cudaStreamSynchronize, cudaError_t, __VA_ARGS__)

#endif
