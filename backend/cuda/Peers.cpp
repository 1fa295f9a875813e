// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: devices that reach each other's memory.

#include "Runtime.hpp"

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// Other code may have enabled it, and is never deprived of it: nothing disables it.
void enable_access(Runtime& r, int device, int peer) {
  auto& enabled = r.peers[std::size_t(device)];
  if ((enabled >> peer & 1) != 0) return;
  ContextOfDevice const context(r, device);
  CaptureTolerance const tolerance(r);
  cudaError_t const error = cudaDeviceEnablePeerAccess(peer, 0);
  if (!succeeded(error) && error != cudaErrorPeerAccessAlreadyEnabled)
    check(error, "cudaDeviceEnablePeerAccess", look_for_failed_work);
  enabled |= std::uint64_t(1) << peer;
}

}  // namespace

// Atomics that are native go by NVLink, and not by PCIe.
bool have_own_link(int device, int peer) noexcept {
  int atomics = 0;
  return runtime() != nullptr &&
         succeeded(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device,
                                             peer)) &&
         atomics != 0;
}

void let_reach(int device, int peer) {
  Runtime& r = require_runtime();
  enable_access(r, device, peer);
  enable_access(r, peer, device);
}

bool follows_let_reach(void const* memory) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr) return false;
  ContextInUse const context(*r);
  auto what = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;  // neither of a pool, nor mapped
  unsigned follows = 0;
  void* to         = &follows;
  r->pointer_attributes(1, &what, &to, reinterpret_cast<CUdeviceptr>(memory));
  return follows != 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
