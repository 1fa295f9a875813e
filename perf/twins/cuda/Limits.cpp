// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Limits.hpp"

#include "Check.hpp"
#include "Gate.hpp"

#include <algorithm>
#include <functional>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr std::size_t bytes = std::size_t(512) << 20;  // as nvbandwidth

class Links {
 public:
  Links() {
    for (int i = 0; i < 2; ++i) {
      check(cudaMalloc(&m_device[i], bytes), "cudaMalloc");
      check(cudaHostAlloc(&m_host[i], bytes, cudaHostAllocDefault), "cudaHostAlloc");
      check(cudaStreamCreateWithFlags(&m_stream[i], cudaStreamNonBlocking), "cudaStreamCreate");
      check(cudaEventCreate(&m_event[i]), "cudaEventCreate");
      check(cudaEventCreateWithFlags(&m_order[i], cudaEventDisableTiming), "cudaEventCreate");
    }
  }
  ~Links() {
    for (int i = 0; i < 2; ++i) {
      (void)cudaFree(m_device[i]);
      (void)cudaFreeHost(m_host[i]);
      (void)cudaStreamDestroy(m_stream[i]);
      (void)cudaEventDestroy(m_event[i]);
      (void)cudaEventDestroy(m_order[i]);
    }
  }
  Links(Links const&)            = delete;
  Links& operator=(Links const&) = delete;

  void to_device(cudaStream_t stream) { copy(m_device[0], m_host[0], stream); }
  void to_host(cudaStream_t stream) { copy(m_host[1], m_device[1], stream); }
  void on_device(cudaStream_t stream) { copy(m_device[0], m_device[1], stream); }

  // The least of some: a limit is what the machine can do.
  double seconds(std::function<void(cudaStream_t, cudaStream_t)> const& work) {
    float least = 1e9f;
    for (int i = 0; i < 5; ++i) {
      m_gate.close(m_stream[0], 5);
      check(cudaEventRecord(m_event[0], m_stream[0]), "cudaEventRecord");
      check(cudaEventRecord(m_order[0], m_stream[0]), "cudaEventRecord");
      check(cudaStreamWaitEvent(m_stream[1], m_order[0], 0), "cudaStreamWaitEvent");
      work(m_stream[0], m_stream[1]);
      check(cudaEventRecord(m_order[1], m_stream[1]), "cudaEventRecord");
      check(cudaStreamWaitEvent(m_stream[0], m_order[1], 0), "cudaStreamWaitEvent");
      check(cudaEventRecord(m_event[1], m_stream[0]), "cudaEventRecord");
      m_gate.open();
      check(cudaEventSynchronize(m_event[1]), "cudaEventSynchronize");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, m_event[0], m_event[1]), "cudaEventElapsedTime");
      least = std::min(least, milliseconds);
    }
    return least * 1e-3;
  }

 private:
  void copy(void* to, void const* from, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  }

  Gate m_gate;
  void *m_device[2], *m_host[2];
  cudaStream_t m_stream[2];
  cudaEvent_t m_event[2], m_order[2];
};

}  // namespace

std::vector<Limit> measure_limits() {
  Links links;
  double const to_device = links.seconds([&](cudaStream_t s, cudaStream_t) { links.to_device(s); });
  double const to_host   = links.seconds([&](cudaStream_t s, cudaStream_t) { links.to_host(s); });
  double const both      = links.seconds([&](cudaStream_t s, cudaStream_t t) {
    links.to_device(s);
    links.to_host(t);
  });
  double const on_device = links.seconds([&](cudaStream_t s, cudaStream_t) { links.on_device(s); });
  return {{"to_device", bytes / to_device},
          {"to_host", bytes / to_host},
          {"both", 2 * bytes / both},
          {"device_memory", 2 * bytes / on_device}};
}

}  // namespace KokkosHostSpaces::Perf
