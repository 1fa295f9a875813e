// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The fake runtime's devices and contexts, and the way to its driver functions.

#include "FakeCudaMachine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace FakeCuda {

namespace {

struct ThreadState {
  int device = 0;                 // set by cudaSetDevice
  bool bound = false;             // has the context of the device
  std::vector<CUcontext> pushed;  // by cuCtxPushCurrent: goes first
};
thread_local ThreadState thread_state;

bool is_device(int device) {
  return device >= 0 && static_cast<std::size_t>(device) < machine().contexts.size();
}

}  // namespace

CUctx_st& Machine::current() {
  CUctx_st& context = thread_state.pushed.empty()
                          ? *contexts.at(static_cast<std::size_t>(thread_state.device))
                          : *thread_state.pushed.back();
  context.active    = true;
  thread_state.bound |= thread_state.pushed.empty();
  return context;
}

void Machine::note_locked(void const* pointer) {
  CUcontext const context = &current();
  bool const is_made      = std::any_of(made_contexts.begin(), made_contexts.end(),
                                        [&](auto const& made) { return made.get() == context; });
  if (is_made) locked_in[reinterpret_cast<std::uintptr_t>(pointer)] = context;
}

void reset_thread() { thread_state = ThreadState(); }

CUresult device_get(CUdevice* device, int ordinal) {
  if (CUresult const error = enter_driver("cuDeviceGet")) return error;
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult primary_context_state(CUdevice device, unsigned int* flags, int* active) {
  if (CUresult const error = enter_driver("cuDevicePrimaryCtxGetState")) return error;
  std::lock_guard const lock(machine().mutex);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags  = 0;
  *active = machine().contexts.at(static_cast<std::size_t>(device))->active ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult primary_context_retain(CUcontext* context, CUdevice device) {
  if (CUresult const error = enter_driver("cuDevicePrimaryCtxRetain")) return error;
  std::lock_guard const lock(machine().mutex);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context           = machine().contexts.at(static_cast<std::size_t>(device)).get();
  (*context)->active = true;
  return CUDA_SUCCESS;
}

CUresult current_context(CUcontext* context) {
  if (CUresult const error = enter_driver("cuCtxGetCurrent")) return error;
  std::lock_guard const lock(machine().mutex);
  bool const any = thread_state.bound || !thread_state.pushed.empty();
  *context       = any ? &machine().current() : nullptr;
  return CUDA_SUCCESS;
}

CUresult push_context(CUcontext context) {
  if (CUresult const error = enter_driver("cuCtxPushCurrent")) return error;
  FailNth::Exempt const exempt;
  thread_state.pushed.push_back(context);
  return CUDA_SUCCESS;
}

// Never fails: nothing could be done about it, and the thread would keep the wrong context.
CUresult pop_context(CUcontext* context) {
  if (thread_state.pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = thread_state.pushed.back();
  thread_state.pushed.pop_back();
  return CUDA_SUCCESS;
}

CUresult synchronize_context() {
  if (CUresult const error = enter_driver("cuCtxSynchronize")) return error;
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  int const device = m.current().device;
  if (!m.allows_synchronization(device)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  m.wait_for(lock, m.pending_work(device));
  return CUDA_SUCCESS;
}

// As the real one, makes it current. Only tests call this and the next function.
CUresult create_context(CUcontext* context, unsigned int, CUdevice device) {
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  m.made_contexts.push_back(std::make_unique<CUctx_st>());
  *context                  = m.made_contexts.back().get();
  (*context)->device        = device;
  (*context)->legacy.device = device;
  thread_state.pushed.push_back(*context);
  return CUDA_SUCCESS;
}

// Memory that is page-locked in it goes with it.
CUresult destroy_context(CUcontext context) {
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  std::erase(thread_state.pushed, context);
  std::erase_if(m.locked_in, [&](auto const& locked) {
    if (locked.second != context) return false;
    m.registrations.erase(locked.first);
    if (auto const allocated = m.allocations.extract(locked.first); !allocated.empty())
      std::free(allocated.mapped().begin);
    return true;
  });
  std::erase_if(m.made_contexts, [&](auto const& made) { return made.get() == context; });
  return CUDA_SUCCESS;
}

void* driver_function(std::string const& name) {
  static std::map<std::string, void*> const functions = {
    {"cuDeviceGet", reinterpret_cast<void*>(&device_get)},
    {"cuDevicePrimaryCtxGetState", reinterpret_cast<void*>(&primary_context_state)},
    {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(&primary_context_retain)},
    {"cuCtxGetCurrent", reinterpret_cast<void*>(&current_context)},
    {"cuCtxPushCurrent", reinterpret_cast<void*>(&push_context)},
    {"cuCtxPopCurrent", reinterpret_cast<void*>(&pop_context)},
    {"cuCtxCreate", reinterpret_cast<void*>(&create_context)},
    {"cuCtxDestroy", reinterpret_cast<void*>(&destroy_context)},
    {"cuCtxSynchronize", reinterpret_cast<void*>(&synchronize_context)},
    {"cuCtxRecordEvent", reinterpret_cast<void*>(&record_context_event)},
    {"cuEventCreate", reinterpret_cast<void*>(&create_event)},
    {"cuEventQuery", reinterpret_cast<void*>(&query_event)},
    {"cuEventSynchronize", reinterpret_cast<void*>(&synchronize_event)},
    {"cuEventDestroy", reinterpret_cast<void*>(&destroy_event)},
    {"cuMemGetAddressRange", reinterpret_cast<void*>(&address_range)},
    {"cuPointerGetAttributes", reinterpret_cast<void*>(&pointer_attributes)},
#if CUDART_VERSION >= 12080
    {"cuMemcpyBatchAsync", reinterpret_cast<void*>(&copy_batch)},
#endif
    {"cuStreamIsCapturing", reinterpret_cast<void*>(&stream_is_capturing)},
    {"cuThreadExchangeStreamCaptureMode", reinterpret_cast<void*>(&exchange_capture_mode)}
  };
  std::lock_guard const lock(machine().mutex);
  bool const is_new = name == "cuCtxRecordEvent" || name == "cuMemcpyBatchAsync";
  if (machine().told.old_driver && is_new) return nullptr;
  auto const found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

}  // namespace FakeCuda

using namespace FakeCuda;

extern "C" {

cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
  if (cudaError_t const error = enter("cudaGetDeviceCount")) return error;
  std::lock_guard const lock(machine().mutex);
  *count = static_cast<int>(machine().contexts.size());
  return finish(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  if (cudaError_t const error = enter("cudaGetDevice")) return error;
  *device = thread_state.pushed.empty() ? thread_state.device : thread_state.pushed.back()->device;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaSetDevice(int device) {
  if (cudaError_t const error = enter("cudaSetDevice")) return error;
  std::lock_guard const lock(machine().mutex);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  thread_state.device = device;
  machine().current();
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (cudaError_t const error = enter("cudaDeviceGetPCIBusId")) return error;
  std::lock_guard const lock(machine().mutex);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                static_cast<unsigned>(0x17 + device));
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (cudaError_t const error = enter("cudaDeviceGetAttribute")) return error;
  std::lock_guard const lock(machine().mutex);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      *value = machine().told.addresses_move ? 0 : 1;
      break;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
      *value = machine().told.reaches_pageable ? 1 : 0;
      break;
    case cudaDevAttrMaxPitch: *value = 2147483647; break;
    default: return finish(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int device,
                                                int peer) {
  if (cudaError_t const error = enter("cudaDeviceGetP2PAttribute")) return error;
  std::lock_guard const lock(machine().mutex);
  if (!is_device(device) || !is_device(peer) || device == peer)
    return finish(cudaErrorInvalidDevice);
  auto const& apart = machine().told.apart;
  *value            = apart.count(device) + apart.count(peer) == 0 ? 1 : 0;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned int) {
  if (cudaError_t const error = enter("cudaDeviceEnablePeerAccess")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (!m.allows_unsafe_call()) return finish(cudaErrorStreamCaptureUnsupported);
  if (!is_device(peer)) return finish(cudaErrorInvalidDevice);
  bool const is_new = m.told.reached.insert({m.current().device, peer}).second;
  return finish(is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t CUDARTAPI cudaDeviceSynchronize() {
  if (cudaError_t const error = enter_from_test("cudaDeviceSynchronize")) return error;
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  int const device = m.current().device;
  if (!m.allows_synchronization(device)) return finish(cudaErrorStreamCaptureUnsupported);
  m.wait_for(lock, m.pending_work(device));
  return cudaSuccess;
}

#if CUDART_VERSION >= 12050
cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(char const* symbol, void** function,
                                                       unsigned int, unsigned long long,
                                                       cudaDriverEntryPointQueryResult* status) {
#else
cudaError_t CUDARTAPI cudaGetDriverEntryPoint(char const* symbol, void** function,
                                              unsigned long long,
                                              cudaDriverEntryPointQueryResult* status) {
#endif
  if (cudaError_t const error = enter("cudaGetDriverEntryPointByVersion")) return error;
  FailNth::Exempt const exempt;
  *function = driver_function(symbol);
  *status = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
}
