// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Calls of CUDA that throw, and owners of streams and events.

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_CHECK_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_CHECK_CUDA_HPP

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace KokkosHostSpaces::Perf {

inline void check(cudaError_t code, char const* call) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(call) + " failed (" + cudaGetErrorString(code) + ")");
}

/// Checks the launch in front of it.
inline void check_launch() { check(cudaGetLastError(), "kernel launch"); }

inline void copy_async(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

inline void synchronize(cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

/// A stream that does not wait for the default one.
class CudaStream {
 public:
  CudaStream() {
    check(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~CudaStream() { (void)cudaStreamDestroy(m_stream); }
  CudaStream(CudaStream const&)            = delete;
  CudaStream& operator=(CudaStream const&) = delete;

  operator cudaStream_t() const { return m_stream; }

 private:
  cudaStream_t m_stream{};
};

class CudaEvent {
 public:
  explicit CudaEvent(unsigned flags = cudaEventDisableTiming) {
    check(cudaEventCreateWithFlags(&m_event, flags), "cudaEventCreate");
  }
  ~CudaEvent() { (void)cudaEventDestroy(m_event); }
  CudaEvent(CudaEvent const&)            = delete;
  CudaEvent& operator=(CudaEvent const&) = delete;

  operator cudaEvent_t() const { return m_event; }
  void record(cudaStream_t stream) { check(cudaEventRecord(m_event, stream), "cudaEventRecord"); }
  /// Lets further work on `stream` wait for the recorded work.
  void let_wait(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, m_event, 0), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t m_event{};
};

}  // namespace KokkosHostSpaces::Perf

#endif
