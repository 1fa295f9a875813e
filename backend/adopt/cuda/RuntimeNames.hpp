// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Included before the sources of backend/cuda/ that the library to preload contains: what they call is
// found in the process when it is called first, behind this library. So nothing links to the CUDA
// runtime, and the calls of this library are not those that it interposes.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_CUDA_RUNTIME_NAMES_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_CUDA_RUNTIME_NAMES_HPP

#include "../Objects.hpp"

#include <type_traits>

#include <cuda_runtime_api.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// Instead of a function that the process does not have.
template <class Function>
struct Absent;
template <class Result, class... Arguments>
struct Absent<Result (*)(Arguments...)> {
  static Result call(Arguments...) {
    if constexpr (std::is_same_v<Result, cudaError_t>)
      return cudaErrorUnknown;
    else
      return "unknown";
  }
};

template <class Function>
Function find_next(char const* name) noexcept {
  auto const next = reinterpret_cast<Function>(Objects::find_next(name, "libcudart.so"));
  return next != nullptr ? next : &Absent<Function>::call;
}

#if CUDART_VERSION >= 12050
/// The program may have an older runtime than this library was built with.
inline cudaError_t find_driver_function(char const* name, void** function, unsigned version,
                                        unsigned long long flags,
                                        cudaDriverEntryPointQueryResult* status) {
  using ByVersion = decltype(&cudaGetDriverEntryPointByVersion);
  using Older =
      cudaError_t (*)(char const*, void**, unsigned long long, cudaDriverEntryPointQueryResult*);
  static auto const next = reinterpret_cast<ByVersion>(
      Objects::find_next("cudaGetDriverEntryPointByVersion", "libcudart.so"));
  static auto const older = find_next<Older>("cudaGetDriverEntryPoint");
  return next != nullptr ? next(name, function, version, flags, status)
                         : older(name, function, flags, status);
}
#endif

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#define KHS_NEXT(name)                                                                 \
  ([] {                                                                                \
    static auto const next =                                                           \
        ::KokkosHostSpaces::Impl::Backend::Adopt::find_next<decltype(&::name)>(#name); \
    return next;                                                                       \
  }())

#if CUDART_VERSION >= 12050
#define cudaGetDriverEntryPointByVersion \
  ::KokkosHostSpaces::Impl::Backend::Adopt::find_driver_function
#else
#define cudaGetDriverEntryPoint KHS_NEXT(cudaGetDriverEntryPoint)
#endif
#define cudaDeviceGetAttribute KHS_NEXT(cudaDeviceGetAttribute)
#define cudaDeviceGetPCIBusId KHS_NEXT(cudaDeviceGetPCIBusId)
#define cudaFree KHS_NEXT(cudaFree)
#define cudaFreeHost KHS_NEXT(cudaFreeHost)
#define cudaGetDevice KHS_NEXT(cudaGetDevice)
#define cudaGetDeviceCount KHS_NEXT(cudaGetDeviceCount)
#define cudaGetErrorName KHS_NEXT(cudaGetErrorName)
#define cudaGetErrorString KHS_NEXT(cudaGetErrorString)
#define cudaGetLastError KHS_NEXT(cudaGetLastError)
#define cudaHostAlloc KHS_NEXT(cudaHostAlloc)
#define cudaHostGetDevicePointer KHS_NEXT(cudaHostGetDevicePointer)
#define cudaHostRegister KHS_NEXT(cudaHostRegister)
#define cudaHostUnregister KHS_NEXT(cudaHostUnregister)
#define cudaLaunchHostFunc KHS_NEXT(cudaLaunchHostFunc)
#define cudaMalloc KHS_NEXT(cudaMalloc)
#define cudaMemcpyAsync KHS_NEXT(cudaMemcpyAsync)
#define cudaPointerGetAttributes KHS_NEXT(cudaPointerGetAttributes)
#define cudaSetDevice KHS_NEXT(cudaSetDevice)
#define cudaStreamCreateWithFlags KHS_NEXT(cudaStreamCreateWithFlags)
#define cudaStreamDestroy KHS_NEXT(cudaStreamDestroy)
#define cudaStreamSynchronize KHS_NEXT(cudaStreamSynchronize)

#endif
