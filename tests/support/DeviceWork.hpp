// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Work on streams by the CUDA runtime, the real one or the fake: tests that use only this run on
// both.

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_DEVICE_WORK_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_DEVICE_WORK_HPP

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

namespace DeviceWork {

inline void require(cudaError_t error, char const* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string("DeviceWork: ") + call +
                           " failed: " + cudaGetErrorString(error));
}

/// A function of the driver, in the form of a version of CUDA.
template <class Function>
Function* driver_function(char const* name, [[maybe_unused]] unsigned version = 12000) {
  void* function                         = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  require(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &status),
          name);
#else
  require(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &status), name);
#endif
  if (status != cudaDriverEntryPointSuccess) throw std::runtime_error(name);
  return reinterpret_cast<Function*>(function);
}

/// Makes a device current.
inline void use(int device) { require(cudaSetDevice(device), "cudaSetDevice"); }

/// Keeps work from ending until it is opened; opens itself at the end of its scope.
class Gate {
 public:
  Gate() = default;
  ~Gate() { open(); }
  Gate(Gate const&)            = delete;
  Gate& operator=(Gate const&) = delete;

  void open() {
    m_open->store(true);
    m_open->notify_all();
  }

  /// What a stream shall run to be held; outlives the gate.
  std::function<void()> hold() const {
    return [open = m_open] { open->wait(false); };
  }

 private:
  std::shared_ptr<std::atomic<bool>> m_open = std::make_shared<std::atomic<bool>>(false);
};

/// A stream on the current device. Its destructor waits for its work, so declare gates after it.
class Stream {
 public:
  enum class Kind : unsigned { blocking = cudaStreamDefault, non_blocking = cudaStreamNonBlocking };

  explicit Stream(Kind kind = Kind::non_blocking) {
    require(cudaStreamCreateWithFlags(&m_stream, static_cast<unsigned>(kind)),
            "cudaStreamCreateWithFlags");
  }
  ~Stream() {
    cudaStreamSynchronize(m_stream);
    cudaStreamDestroy(m_stream);
  }
  Stream(Stream const&)            = delete;
  Stream& operator=(Stream const&) = delete;

  cudaStream_t get() const { return m_stream; }

  /// Queues a function, which must not call CUDA. Not while the stream captures.
  void run(std::function<void()> work) {
    auto owned = std::make_unique<std::function<void()>>(std::move(work));
    require(cudaLaunchHostFunc(
                m_stream,
                [](void* data) {
                  std::unique_ptr<std::function<void()>> const work_of_stream(
                      static_cast<std::function<void()>*>(data));
                  (*work_of_stream)();
                },
                owned.get()),
            "cudaLaunchHostFunc");
    owned.release();
  }

  void wait() { require(cudaStreamSynchronize(m_stream), "cudaStreamSynchronize"); }

  void begin_capture(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    require(cudaStreamBeginCapture(m_stream, mode), "cudaStreamBeginCapture");
  }

  /// Ends the capture; true if nothing broke it.
  bool end_capture() {
    cudaGraph_t const graph = end_capture_with_graph();
    if (graph != nullptr) require(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return graph != nullptr;
  }

  /// Ends the capture; nullptr if it was broken.
  cudaGraph_t end_capture_with_graph() {
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(m_stream, &graph) != cudaSuccess) cudaGetLastError();
    return graph;
  }

 private:
  cudaStream_t m_stream = nullptr;
};

}  // namespace DeviceWork

#endif
