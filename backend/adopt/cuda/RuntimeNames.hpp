// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Included before the sources of backend/cuda/ that the library to preload contains: what they call is
// found in the process when it is called first (RuntimeShim.cpp). So nothing links to the CUDA runtime,
// and the calls of this library are not those that it interposes.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_CUDA_RUNTIME_NAMES_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_CUDA_RUNTIME_NAMES_HPP

#define cudaDeviceGetAttribute khs_next_cudaDeviceGetAttribute
#define cudaDeviceGetPCIBusId khs_next_cudaDeviceGetPCIBusId
#define cudaFree khs_next_cudaFree
#define cudaFreeHost khs_next_cudaFreeHost
#define cudaGetDevice khs_next_cudaGetDevice
#define cudaGetDeviceCount khs_next_cudaGetDeviceCount
#define cudaGetDriverEntryPoint khs_next_cudaGetDriverEntryPoint
#define cudaGetDriverEntryPointByVersion khs_next_cudaGetDriverEntryPointByVersion
#define cudaGetErrorName khs_next_cudaGetErrorName
#define cudaGetErrorString khs_next_cudaGetErrorString
#define cudaGetLastError khs_next_cudaGetLastError
#define cudaHostAlloc khs_next_cudaHostAlloc
#define cudaHostGetDevicePointer khs_next_cudaHostGetDevicePointer
#define cudaHostRegister khs_next_cudaHostRegister
#define cudaHostUnregister khs_next_cudaHostUnregister
#define cudaLaunchHostFunc khs_next_cudaLaunchHostFunc
#define cudaMalloc khs_next_cudaMalloc
#define cudaMemcpyAsync khs_next_cudaMemcpyAsync
#define cudaPointerGetAttributes khs_next_cudaPointerGetAttributes
#define cudaSetDevice khs_next_cudaSetDevice
#define cudaStreamCreateWithFlags khs_next_cudaStreamCreateWithFlags
#define cudaStreamDestroy khs_next_cudaStreamDestroy
#define cudaStreamSynchronize khs_next_cudaStreamSynchronize

#endif
