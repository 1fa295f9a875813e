// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Runtime.hpp"

#include "../Error.hpp"
#include "../os/Fork.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

std::atomic<Runtime*> known_runtime{nullptr};

void* driver_function(char const* name, [[maybe_unused]] unsigned version) noexcept {
  void* function                         = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaError_t const error =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableLegacyStream, &status);
#else
  cudaError_t const error =
      cudaGetDriverEntryPoint(name, &function, cudaEnableLegacyStream, &status);
#endif
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess && status == cudaDriverEntryPointSuccess ? function : nullptr;
}

template <class Function>
bool find(Function& function, char const* name, unsigned version = 12000) noexcept {
  function = reinterpret_cast<Function>(driver_function(name, version));
  return function != nullptr;
}

// nullptr after an error that may be gone the next time. Only cuCtxRecordEvent and
// cuMemcpyBatchAsync may be missing.
std::unique_ptr<Runtime> learn_runtime() {
  auto learnt            = std::make_unique<Runtime>();
  cudaError_t const told = cudaGetDeviceCount(&learnt->devices);
  if (!succeeded(told)) {
    bool const for_ever = told == cudaErrorNoDevice || told == cudaErrorInsufficientDriver;
    learnt->devices     = 0;
    return for_ever ? std::move(learnt) : nullptr;
  }
  Runtime& r    = *learnt;
  bool complete = true;
#define KHS_FIND(name, function) complete = complete && find(r.name, #function);
  KHS_DRIVER_FUNCTIONS(KHS_FIND)
  find(r.record_context_event, "cuCtxRecordEvent", 12050);
#if CUDART_VERSION >= 12080
  find(r.copy_batch, "cuMemcpyBatchAsync", 12080);
#endif
  r.devices = std::min(r.devices, max_devices);
  return complete ? std::move(learnt) : nullptr;
}

// Never destroyed, because static destructors of the application may still free memory.
Runtime* known_or_learnt() noexcept {
  if (Runtime* const known = known_runtime.load(std::memory_order_acquire)) return known;
  try {
    auto learnt = learn_runtime();
    if (learnt == nullptr) return nullptr;
    Runtime* expected = nullptr;
    if (!known_runtime.compare_exchange_strong(expected, learnt.get())) return expected;
    return learnt.release();
  } catch (std::exception const&) {
    return nullptr;
  }
}

void tell_lost(Runtime& runtime, int device) noexcept {
  if (runtime.is_lost.exchange(true)) return;
  std::fprintf(
      stderr,
      "KokkosHostSpaces: device %d was reset (other code has called cudaDeviceReset): memory "
      "stays usable on the host, and is not page-locked any more\n",
      device);
}

}  // namespace

Runtime* runtime() noexcept {
  if (is_forked_child()) return nullptr;
  Runtime* const known = known_or_learnt();
  return known != nullptr && known->devices > 0 && !known->is_lost ? known : nullptr;
}

Runtime* runtime_with_handles() noexcept {
  Runtime* const r = runtime();
  for (int device = 0; r != nullptr && device < r->devices; ++device) {
    CUcontext context = nullptr;
    if (r->contexts[static_cast<std::size_t>(device)] != nullptr) r->context_of(device, context);
  }
  return runtime();
}

Runtime* runtime_with_handles_seen_lately() noexcept {
  using namespace std::chrono;
  Runtime* const r = runtime();
  if (r == nullptr) return nullptr;
  if (r->recording_has_looked.load(std::memory_order_relaxed)) {
    r->recording_has_looked.store(false, std::memory_order_relaxed);
    return r;
  }
  auto const now = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
  if (r->looked_at.load(std::memory_order_relaxed) == now) return r;
  r->looked_at.store(now, std::memory_order_relaxed);
  return runtime_with_handles();
}

Runtime& require_runtime() {
  if (Runtime* const usable = runtime()) return *usable;
  bool const forked          = is_forked_child();
  Runtime const* const known = known_runtime.load();
  if (!forked && known != nullptr && known->is_lost)
    throw DeviceError(
        "CUDA cannot be used (other code has called cudaDeviceReset, by which streams, events and "
        "page-locked memory are gone): remove that call, or make it the last one of the process",
        cudaErrorContextIsDestroyed);
  throw DeviceError(
      forked ? "CUDA cannot be used (this process is the child of a fork): start processes "
               "before the parent uses CUDA, or with exec"
             : "CUDA cannot be used (no device, or no driver): look at nvidia-smi and at "
               "CUDA_VISIBLE_DEVICES",
      forked ? cudaErrorInitializationError : cudaErrorNoDevice);
}

void forget_runtime() noexcept { delete known_runtime.exchange(nullptr); }

bool succeeded(cudaError_t error) noexcept {
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

void check(cudaError_t error, char const* call, char const* advice) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw DeviceError(std::string(call) + " failed (" + cudaGetErrorName(error) + ", " +
                        cudaGetErrorString(error) + "): " + advice,
                    error);
}

Runtime::Context Runtime::context_of(int device, CUcontext& context, Absent absent) noexcept {
  auto const failed = [](CUresult result) {
    return result == CUDA_ERROR_DEINITIALIZED ? Context::none : Context::unknown;
  };
  CUdevice handle    = 0;
  unsigned int flags = 0;
  int active         = 0;
  if (device < 0 || device >= devices) return Context::none;
  auto& known = handles[static_cast<std::size_t>(device)];
  if (int const stored = known.load(std::memory_order_relaxed); stored != 0) {
    handle = stored - 1;
  } else {
    if (CUresult const result = device_get(&handle, device)) return failed(result);
    known.store(handle + 1, std::memory_order_relaxed);
  }
  if (CUresult const result = primary_context_state(handle, &flags, &active)) return failed(result);
  auto& slot = contexts[static_cast<std::size_t>(device)];
  context    = slot.load(std::memory_order_acquire);
  // It was retained: only a reset ends it.
  if (active == 0 && context != nullptr) {
    tell_lost(*this, device);
    context = nullptr;
    return Context::none;
  }
  if (active == 0 && absent == Absent::leave) return Context::none;
  if (context != nullptr) return Context::in_use;
  // Retained for the life of the process. If two threads do it, the count does not matter.
  if (CUresult const result = primary_context_retain(&context, handle)) return failed(result);
  slot.store(context, std::memory_order_release);
  return Context::in_use;
}

bool Runtime::is_known_primary(CUcontext context) const noexcept {
  return context != nullptr &&
         std::any_of(contexts.begin(), contexts.end(), [&](auto const& known) {
           return known.load(std::memory_order_relaxed) == context;
         });
}

void ContextScope::push_one_in_use() noexcept {
  CUcontext current = nullptr, primary = nullptr;
  bool const told = m_runtime.current_context(&current) == CUDA_SUCCESS;
  if (told && m_runtime.is_known_primary(current)) return;
  bool found = m_runtime.context_of(current_device(), primary) == Runtime::Context::in_use;
  for (int device = 0; !found && device < m_runtime.devices; ++device)
    found = m_runtime.context_of(device, primary) == Runtime::Context::in_use;
  if (found && !(told && current == primary)) push(primary);
}

void ContextScope::push_that_of(int device) {
  CUcontext wanted = nullptr, current = nullptr;
  if (m_runtime.context_of(device, wanted, Runtime::Absent::make) != Runtime::Context::in_use)
    check(cudaErrorInvalidDevice, "cuDevicePrimaryCtxRetain", "check the number of the device");
  if (m_runtime.current_context(&current) == CUDA_SUCCESS && current == wanted) return;
  push(wanted);
  if (!pushed()) check(cudaErrorInvalidValue, "cuCtxPushCurrent", look_for_failed_work);
}

int device_count() noexcept {
  Runtime const* const r = runtime();
  return r != nullptr ? r->devices : 0;
}

// A child of a fork must not ask, but may know from its parent that there is no device.
Presence presence() noexcept {
  Runtime const* const known = is_forked_child() ? known_runtime.load() : known_or_learnt();
  if (known == nullptr) return Presence::unknown;
  return known->devices > 0 && !known->is_lost ? Presence::some : Presence::none;
}

bool has_context() noexcept {
  Runtime* const r = runtime();
  for (int device = 0; r != nullptr && device < r->devices; ++device) {
    CUcontext context = nullptr;
    if (r->context_of(device, context) == Runtime::Context::in_use) return true;
  }
  return false;
}

int devices_in_use(Devices& out) noexcept {
  Runtime* const r = runtime();
  std::size_t used = 0;
  for (int device = 0; r != nullptr && device < r->devices; ++device) {
    CUcontext context = nullptr;
    if (r->context_of(device, context) != Runtime::Context::none) out[used++] = device;
  }
  return static_cast<int>(used);
}

int current_device() noexcept {
  int device = -1;
  return runtime() != nullptr && succeeded(cudaGetDevice(&device)) ? device : -1;
}

void use_device(int device) noexcept {
  Devices in_use{};
  auto const* const end = in_use.begin() + devices_in_use(in_use);
  if (std::find(std::as_const(in_use).begin(), end, device) != end)
    succeeded(cudaSetDevice(device));
}

// cuCtxGetCurrent takes 10 to 20 ns; cudaSetDevice of the current device takes 90 to 110 ns.
void require_device(int device) {
  Runtime& r        = require_runtime();
  CUcontext current = nullptr, known = nullptr;
  if (device >= 0 && device < max_devices && r.current_context(&current) == CUDA_SUCCESS &&
      current != nullptr &&
      current == r.contexts[std::size_t(device)].load(std::memory_order_acquire))
    return;
  check(cudaSetDevice(device), "cudaSetDevice", look_for_failed_work);
  r.context_of(device, known);  // the next call knows it
}

void check_enqueued() { check(cudaGetLastError(), "the launch of a kernel", look_for_failed_work); }

std::string pci_bus_id(int device) {
  require_runtime();
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
        "cudaDeviceGetPCIBusId", "check the number of the device");
  return text.data();
}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
