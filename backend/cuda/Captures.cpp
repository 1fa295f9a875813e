// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: what a captured graph owns.

#include "Runtime.hpp"

namespace KokkosHostSpaces::Impl::Backend::Driver {

// The legacy stream cannot capture; asking it would tell of other streams.
bool captures(Stream stream) noexcept {
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return false;
  Runtime* const r             = runtime();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return r != nullptr &&
         r->stream_is_capturing(static_cast<CUstream>(stream), &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void give_to_capture(Stream stream, void* object, void (*release)(void*)) {
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
  succeeded(cudaUserObjectRelease(owner, 1));  // which releases the object
  check(error, "cudaGraphRetainUserObject", "look for a call that broke the capture");
}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
