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

/// A function that fails where the process has none of this name.
template <class Result, class... Arguments>
auto find_runtime(char const* name, Result (*)(Arguments...)) -> Result (*)(Arguments...) {
  if (void* const found = Objects::find_next(name, "libcudart.so"))
    return reinterpret_cast<Result (*)(Arguments...)>(found);
  return [](Arguments...) -> Result {
    if constexpr (std::is_same_v<Result, cudaError_t>)
      return cudaErrorUnknown;
    else
      return "unknown";
  };
}

#if CUDART_VERSION >= 12050
/// The program may have an older runtime than this library was built with.
inline cudaError_t find_driver_function(char const* name, void** function, unsigned version,
                                        unsigned long long flags,
                                        cudaDriverEntryPointQueryResult* status) {
  using Older =
      cudaError_t (*)(char const*, void**, unsigned long long, cudaDriverEntryPointQueryResult*);
  using ByVersion             = decltype(&cudaGetDriverEntryPointByVersion);
  constexpr char const* newer = "cudaGetDriverEntryPointByVersion";
  if (Objects::find_next(newer, "libcudart.so") != nullptr)
    return find_runtime(newer, ByVersion())(name, function, version, flags, status);
  return find_runtime("cudaGetDriverEntryPoint", Older())(name, function, flags, status);
}
#define cudaGetDriverEntryPointByVersion \
  ::KokkosHostSpaces::Impl::Backend::Adopt::find_driver_function
#endif

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#define KHS_NEXT(name)                                                               \
  ([] {                                                                              \
    static auto const next = ::KokkosHostSpaces::Impl::Backend::Adopt::find_runtime( \
        #name, decltype (&::name)(nullptr));                                         \
    return next;                                                                     \
  }())

#define cudaDeviceGetAttribute KHS_NEXT(cudaDeviceGetAttribute)
#define cudaFreeHost KHS_NEXT(cudaFreeHost)
#define cudaGetDevice KHS_NEXT(cudaGetDevice)
#define cudaGetDeviceCount KHS_NEXT(cudaGetDeviceCount)
#if CUDART_VERSION < 12050
#define cudaGetDriverEntryPoint KHS_NEXT(cudaGetDriverEntryPoint)
#endif
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
#define cudaStreamCreateWithFlags KHS_NEXT(cudaStreamCreateWithFlags)
#define cudaStreamSynchronize KHS_NEXT(cudaStreamSynchronize)

#endif
