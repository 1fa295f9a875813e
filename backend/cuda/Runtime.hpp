// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the files of this folder share: the driver functions, looked up through the runtime so that
// nothing links to libcuda, and two guards.

#ifndef KOKKOS_HOST_SPACES_BACKEND_CUDA_RUNTIME_HPP
#define KOKKOS_HOST_SPACES_BACKEND_CUDA_RUNTIME_HPP

#include "../Driver.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace KokkosHostSpaces::Impl::Backend::Driver {

/// What was learnt about the CUDA runtime of this process.
struct Runtime {
  int devices = 0;

  decltype(&cuDeviceGet) device_get                                  = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) primary_context_state        = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) primary_context_retain         = nullptr;
  decltype(&cuCtxGetCurrent) current_context                         = nullptr;
  decltype(&cuCtxPushCurrent) push_context                           = nullptr;
  decltype(&cuCtxPopCurrent) pop_context                             = nullptr;
  decltype(&cuCtxSynchronize) synchronize_context                    = nullptr;
  decltype(&cuEventCreate) create_event                              = nullptr;
  decltype(&cuEventQuery) query_event                                = nullptr;
  decltype(&cuEventSynchronize) synchronize_event                    = nullptr;
  decltype(&cuEventDestroy) destroy_event                            = nullptr;
  decltype(&cuStreamIsCapturing) stream_is_capturing                 = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
  decltype(&cuLaunchKernelEx) launch_kernel                          = nullptr;
  CUresult(CUDAAPI* record_context_event)(CUcontext, CUevent)        = nullptr;  ///< CUDA >= 12.5
#if CUDART_VERSION >= 12080
  using CopyBatch       = CUresult CUDAAPI(CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
                                           CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*,
                                           CUstream);
  CopyBatch* copy_batch = nullptr;  ///< cuMemcpyBatchAsync as CUDA 12.8 has it
#endif

  std::array<std::atomic<CUdevice>, max_devices> handles{};  ///< one more than it is; 0: not known
  std::array<std::atomic<CUcontext>, max_devices> contexts{};
  std::array<std::atomic<cudaStream_t>, max_devices> private_streams{};
  std::atomic<int> breaking_captures{0};  ///< calls under way that would break a capture
  std::mutex mutex;                       ///< guards the making of private streams

  enum class Context { in_use, none, unknown };

  enum class Absent { leave, make };

  /// Whether the primary context of a device exists; there is none when the runtime has shut down.
  /// Unknown if the driver fails.
  Context context_of(int device, CUcontext& context, Absent absent = Absent::leave) noexcept;
};

/// nullptr where CUDA cannot be used: no device, no driver, or the child of a fork.
Runtime* runtime() noexcept;

/// As above, but throws CudaError instead of returning nullptr.
Runtime& require_runtime();

/// Forgets all of the above; the next call learns it again. For tests that replace the runtime.
void forget_runtime() noexcept;

/// Advice for errors that the call itself does not explain.
inline constexpr auto* look_for_failed_work =
    "check the arguments, and whether an earlier kernel failed (compute-sanitizer finds it)";

/// Clears the pending error.
bool succeeded(cudaError_t error) noexcept;

/// \throw CudaError unless `error` is cudaSuccess; clears the pending error.
void check(cudaError_t error, char const* call, char const* advice);

/// Makes a context the calling thread's. Unlike cudaSetDevice, restoring what was current before
/// never makes a context on a device that nobody used.
class ContextScope {
 public:
  ContextScope(Runtime& runtime, CUcontext context) noexcept
      : m_runtime(runtime), m_pushed(runtime.push_context(context) == CUDA_SUCCESS) {}
  ~ContextScope() {
    CUcontext popped = nullptr;
    if (m_pushed) m_runtime.pop_context(&popped);
  }
  ContextScope(ContextScope const&)            = delete;
  ContextScope& operator=(ContextScope const&) = delete;
  bool pushed() const noexcept { return m_pushed; }

 private:
  Runtime& m_runtime;
  bool m_pushed;
};

/// For calls of the runtime, which make a context where the calling thread has none (asking for the
/// attributes of a pointer does), and of the driver, some of which need one: while this lives, it has
/// that of its device if that is in use, else that of another device in use. If no device is in use,
/// its own becomes so by a call of the runtime.
class ContextInUse {
 public:
  explicit ContextInUse(Runtime& runtime) noexcept;

 private:
  std::optional<ContextScope> m_scope;
};

/// Lets the calling thread make calls which a capture, of this thread or of others, would forbid
/// and be broken by, although they have nothing to do with the captured work.
class CaptureTolerance {
 public:
  explicit CaptureTolerance(Runtime& runtime) noexcept
      : m_runtime(runtime), m_changed(runtime.exchange_capture_mode(&m_mode) == CUDA_SUCCESS) {}
  ~CaptureTolerance() {
    if (m_changed) m_runtime.exchange_capture_mode(&m_mode);
  }
  CaptureTolerance(CaptureTolerance const&)            = delete;
  CaptureTolerance& operator=(CaptureTolerance const&) = delete;

 private:
  Runtime& m_runtime;
  CUstreamCaptureMode m_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool m_changed;
};

}  // namespace KokkosHostSpaces::Impl::Backend::Driver

#endif
