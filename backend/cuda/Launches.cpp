// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime and the driver API: what launches of kernels need.

#include "Runtime.hpp"

#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// Takes 10 to 20 ns; cudaSetDevice of the current device takes 90 to 110 ns.
bool is_current(Runtime& r, int device) noexcept {
  CUcontext current = nullptr;
  return device >= 0 && device < max_devices && r.current_context(&current) == CUDA_SUCCESS &&
         current != nullptr &&
         current == r.contexts[std::size_t(device)].load(std::memory_order_acquire);
}

bool make_current(Runtime& r, int device) noexcept {
  CUcontext known = nullptr;
  return is_current(r, device) || (succeeded(cudaSetDevice(device)) &&
                                   r.context_of(device, known) == Runtime::Context::in_use);
}

// nullopt if the runtime fails to tell.
std::optional<bool> has_dependent_launch(void const* kernel, int device) noexcept {
  constexpr int hopper          = 90;
  cudaFuncAttributes attributes = {};
  if (runtime() == nullptr || !succeeded(cudaSetDevice(device)) ||
      !succeeded(cudaFuncGetAttributes(&attributes, kernel)))
    return std::nullopt;
  return attributes.ptxVersion >= hopper && attributes.binaryVersion >= hopper;
}

}  // namespace

bool supports_dependent_launch(void const* kernel, int device) noexcept {
  return has_dependent_launch(kernel, device).value_or(false);
}

std::optional<KernelHandle> dependent_launch_handle(void const* kernel, int device) noexcept {
  std::optional<bool> const supported = has_dependent_launch(kernel, device);
  if (!supported) return std::nullopt;
  cudaFunction_t function = nullptr;
  if (*supported && !succeeded(cudaGetFuncBySymbol(&function, kernel))) return std::nullopt;
  return function;
}

bool launch_dependent(KernelHandle function, unsigned blocks, unsigned threads, void* argument,
                      Stream stream, int device) noexcept {
  CUlaunchAttribute attribute = {};
  attribute.id                = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config                                  = {};
  config.gridDimX                                        = blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX                  = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream                      = static_cast<CUstream>(stream);
  config.attrs                        = &attribute;
  config.numAttrs                     = 1;
  Runtime* const r                    = runtime();
  return r != nullptr && device >= 0 && device < max_devices && make_current(*r, device) &&
         r->launch_kernel(&config, static_cast<CUfunction>(function), &argument, nullptr) ==
             CUDA_SUCCESS;
}

void prepare_launch(int device) {
  Runtime& r = require_runtime();
  if (is_current(r, device)) return;
  check(cudaSetDevice(device), "cudaSetDevice", look_for_failed_work);
  CUcontext known = nullptr;
  r.context_of(device, known);  // so that is_current knows it
}

void check_launch() { check(cudaGetLastError(), "the launch of a kernel", look_for_failed_work); }

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
