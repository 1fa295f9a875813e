// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Shared by the files of this folder: the driver functions, looked up through the runtime so that
// nothing links to libcuda, scopes for contexts and capture modes, and chunks.

#ifndef KOKKOS_HOST_SPACES_BACKEND_CUDA_RUNTIME_HPP
#define KOKKOS_HOST_SPACES_BACKEND_CUDA_RUNTIME_HPP

#include "../Driver.hpp"
#include "../os/Pages.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace KokkosHostSpaces::Impl::Backend::Driver {

/// Page-locked ranges are registered in chunks that end at multiples of this address, because the
/// runtime refuses to register 512 GiB at once. It also refuses a copy that spans two chunks.
inline constexpr std::size_t largest_chunk = page_window;

/// Bytes from an address to the end of its chunk. \param chunk a power of two
inline std::size_t to_chunk_end(char const* pointer, std::size_t chunk = largest_chunk) {
  return chunk - reinterpret_cast<std::uintptr_t>(pointer) % chunk;
}

/// lock_pages and unlock_pages with chunks that end at multiples of `chunk`.
void lock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk);
bool unlock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk) noexcept;

// All driver functions without which CUDA cannot be used.
#define KHS_DRIVER_FUNCTIONS(F)                        \
  F(device_get, cuDeviceGet)                           \
  F(primary_context_state, cuDevicePrimaryCtxGetState) \
  F(primary_context_retain, cuDevicePrimaryCtxRetain)  \
  F(current_context, cuCtxGetCurrent)                  \
  F(push_context, cuCtxPushCurrent)                    \
  F(pop_context, cuCtxPopCurrent)                      \
  F(synchronize_context, cuCtxSynchronize)             \
  F(create_event, cuEventCreate)                       \
  F(query_event, cuEventQuery)                         \
  F(synchronize_event, cuEventSynchronize)             \
  F(destroy_event, cuEventDestroy)                     \
  F(pointer_attributes, cuPointerGetAttributes)        \
  F(address_range, cuMemGetAddressRange)               \
  F(stream_is_capturing, cuStreamIsCapturing)          \
  F(exchange_capture_mode, cuThreadExchangeStreamCaptureMode)

/// Devices and driver functions of this process.
struct Runtime {
  int devices = 0;

#define KHS_DECLARE(name, function) decltype(&function) name = nullptr;
  KHS_DRIVER_FUNCTIONS(KHS_DECLARE)
#undef KHS_DECLARE
  CUresult(CUDAAPI* record_context_event)(CUcontext, CUevent) = nullptr;  ///< CUDA >= 12.5
#if CUDART_VERSION >= 12080
  using CopyBatch       = CUresult CUDAAPI(CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
                                           CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*,
                                           CUstream);
  CopyBatch* copy_batch = nullptr;  ///< cuMemcpyBatchAsync as CUDA 12.8 has it
#endif

  std::array<std::atomic<CUdevice>, max_devices>
      handles{};  ///< one more than the handle; 0: not known
  std::array<std::atomic<CUcontext>, max_devices> contexts{};
  std::array<std::atomic<cudaStream_t>, max_devices> private_streams{};
  std::array<std::atomic<std::uint64_t>, max_devices> peers{};  ///< bits: devices it was let reach
  /// A recording, made since the last query, looked for a reset.
  std::atomic<bool> recording_has_looked{false};
  std::atomic<long long> looked_at{0};  ///< milliseconds, when a query looked for one
  std::atomic<bool> is_lost{false};     ///< a device was reset: streams, events and locks are gone
  std::atomic<int> breaking_captures{0};  ///< calls under way that would break a capture
  std::mutex mutex;                       ///< held while a private stream is created

  enum class Context { in_use, none, unknown };

  enum class Absent { leave, make };

  /// Retains the primary context of a device if it exists, or creates it on `Absent::make`. `none`
  /// after the runtime has shut down, `unknown` if the driver fails. Notices that a device was reset.
  Context context_of(int device, CUcontext& context, Absent absent = Absent::leave) noexcept;

  /// True for a primary context that context_of has found.
  bool is_known_primary(CUcontext context) const noexcept;
};

/// nullptr where CUDA cannot be used: no device, no driver, the child of a fork, or a device was reset.
Runtime* runtime() noexcept;

/// The same, for calls with handles or locks of ours: first looks whether a device was reset.
Runtime* runtime_with_handles() noexcept;

/// The same for queries, which are frequent, while a look asks the driver: one looks that follows no
/// recording (which has looked), and comes a millisecond after the last look. A reset takes longer.
Runtime* runtime_with_handles_seen_lately() noexcept;

/// \throw DeviceError where CUDA cannot be used
Runtime& require_runtime();

/// Forgets the runtime; the next call looks it up again. For tests that replace the runtime.
void forget_runtime() noexcept;

/// Advice for errors that the call itself does not explain.
inline constexpr auto* look_for_failed_work =
    "check the arguments, and whether an earlier kernel failed (compute-sanitizer finds it)";

/// Clears the pending error. Returns true if `error` is cudaSuccess.
bool succeeded(cudaError_t error) noexcept;

/// \throw DeviceError unless `error` is cudaSuccess; clears the pending error.
void check(cudaError_t error, char const* call, char const* advice);

/// Makes a context current in the calling thread. Unlike cudaSetDevice, restoring the previous one
/// never creates a context on an unused device.
class ContextScope {
 public:
  ContextScope(Runtime& runtime, CUcontext context) noexcept : ContextScope(runtime) {
    push(context);
  }
  ~ContextScope() {
    CUcontext popped = nullptr;
    if (m_pushed) m_runtime.pop_context(&popped);
  }
  ContextScope(ContextScope const&)            = delete;
  ContextScope& operator=(ContextScope const&) = delete;
  bool pushed() const noexcept { return m_pushed; }

 protected:
  explicit ContextScope(Runtime& runtime) noexcept : m_runtime(runtime) {}
  void push(CUcontext context) noexcept {
    m_pushed = m_runtime.push_context(context) == CUDA_SUCCESS;
  }
  void push_one_in_use() noexcept;
  void push_that_of(int device);

 private:
  Runtime& m_runtime;
  bool m_pushed = false;
};

/// Makes an existing primary context current unless the calling thread has one: that of its device,
/// else that of another device. For calls of the runtime, which would create a context (asking for the
/// attributes of a pointer does), and calls of the driver that need one. A context that other code
/// made (cuCtxCreate) does not do: memory that is page-locked in it is gone with it.
struct ContextInUse : ContextScope {
  explicit ContextInUse(Runtime& runtime) noexcept : ContextScope(runtime) { push_one_in_use(); }
};

/// Makes the context of a device current in the calling thread; creates it if need be.
/// \throw DeviceError if that fails
struct ContextOfDevice : ContextScope {
  ContextOfDevice(Runtime& runtime, int device) : ContextScope(runtime) { push_that_of(device); }
};

/// The context of a stream. A default stream is that of `device`, if it is told, else of the context in
/// use; the handles of others tell their device. \throw DeviceError as above
struct ContextOfStream : ContextScope {
  ContextOfStream(Runtime& runtime, Stream stream, int device) : ContextScope(runtime) {
    if (device >= 0 && is_default_stream(stream))
      push_that_of(device);
    else
      push_one_in_use();
  }
};

/// Sets the relaxed capture mode in the calling thread: its calls neither fail because of captures,
/// of this thread or others, nor break them.
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
