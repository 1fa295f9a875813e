// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../LatencyTwin.hpp"

#include "Check.hpp"

#include <cuda/atomic>

namespace KokkosHostSpaces::Perf {
namespace {

__global__ void add_one(std::int64_t* count) { ++*count; }

__global__ void store_value(std::int64_t* where, std::int64_t value) { *where = value; }

__global__ void answer_signals(SignalAndAnswer* flags, int signals) {
  using Flag = cuda::atomic_ref<int, cuda::thread_scope_system>;
  Flag const signal(flags->signal), answer(flags->answer);
  int last = 0;
  for (int i = 0; i < signals; ++i) {
    int now = last;
    for (int looks = 0; now == last && looks < most_looks; ++looks)
      now = signal.load(cuda::memory_order_relaxed);
    if (now == last) return;
    last = now;
    answer.store(2 * now + 1, cuda::memory_order_relaxed);
  }
}

}  // namespace

struct LatencyTwin::State {
  cudaStream_t stream;
  cudaGraphExec_t graph = nullptr;
};

LatencyTwin::LatencyTwin(Stream stream)
    : m_state(std::make_unique<State>(State{static_cast<cudaStream_t>(stream)})) {}

LatencyTwin::~LatencyTwin() {
  if (m_state->graph != nullptr) (void)cudaGraphExecDestroy(m_state->graph);
}

void LatencyTwin::count(std::int64_t* count) {
  add_one<<<1, 1, 0, m_state->stream>>>(count);
  check(cudaGetLastError(), "kernel launch");
}

void LatencyTwin::store(std::int64_t* where, std::int64_t value) {
  store_value<<<1, 1, 0, m_state->stream>>>(where, value);
  check(cudaGetLastError(), "kernel launch");
}

void LatencyTwin::make_graph(int kernels, std::int64_t* counter) {
  cudaGraph_t graph;
  check(cudaStreamBeginCapture(m_state->stream, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  for (int i = 0; i < kernels; ++i) count(counter);
  check(cudaStreamEndCapture(m_state->stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&m_state->graph, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  check(cudaGraphUpload(m_state->graph, m_state->stream), "cudaGraphUpload");
}

void LatencyTwin::launch_graph() {
  check(cudaGraphLaunch(m_state->graph, m_state->stream), "cudaGraphLaunch");
}

void LatencyTwin::copy(void* destination, void const* source, std::size_t bytes) {
  check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, m_state->stream),
        "cudaMemcpyAsync");
}

void LatencyTwin::answer(SignalAndAnswer* flags, int signals) {
  answer_signals<<<1, 1, 0, m_state->stream>>>(flags, signals);
  check(cudaGetLastError(), "kernel launch");
}

void LatencyTwin::fence() {
  check(cudaStreamSynchronize(m_state->stream), "cudaStreamSynchronize");
}

}  // namespace KokkosHostSpaces::Perf
