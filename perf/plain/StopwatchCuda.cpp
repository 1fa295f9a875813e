// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Stopwatch.hpp"
#include "PlainBuffer.hpp"
#include "CheckCuda.hpp"
#include "GateCuda.hpp"

#include <chrono>

namespace KokkosHostSpaces::Perf {
namespace {

// Time limit of the gate: a call that waits for the stream would hang behind a closed one.
constexpr double give_up_after_seconds = 5;

// Opens the gate at the end of a scope, also if the work throws.
class ClosedGate {
 public:
  ClosedGate(Gate& gate, cudaStream_t stream) : m_gate(gate) {
    m_gate.close(stream, give_up_after_seconds);
  }
  ~ClosedGate() { m_gate.open(); }
  ClosedGate(ClosedGate const&)            = delete;
  ClosedGate& operator=(ClosedGate const&) = delete;

 private:
  Gate& m_gate;
};

}  // namespace

struct Stopwatch::State {
  CudaStream stream, other;
  CudaEvent begin{cudaEventDefault}, end{cudaEventDefault}, order;
  Gate gate;
  PlainBuffer eviction       = {nullptr, [](void*) {}};  // twice the size of the cache
  std::size_t eviction_bytes = 0;

  void make_eviction() {
    if (eviction) return;
    int device = 0, cache = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
    eviction_bytes = 2 * std::size_t(cache);
    eviction       = make_plain_buffer(PlainKind::device, eviction_bytes);
  }

  // Let further work on `later` wait for all work on `earlier`.
  void let_wait(cudaStream_t later, cudaStream_t earlier) {
    order.record(earlier);
    order.let_wait(later);
  }

  double time(Work const& before, Work const& work) {
    {
      ClosedGate const closed(gate, stream);
      before();
      begin.record(stream);
      work();
      end.record(stream);
    }
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    if (gate.gave_up())
      throw std::runtime_error(
          "the work was not enqueued (a call waited for the device behind the blocking kernel): it "
          "cannot be timed with device events");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }
};

Stopwatch::Stopwatch() : m_state(std::make_unique<State>()) {}
Stopwatch::~Stopwatch() = default;

Stream Stopwatch::stream() const { return cudaStream_t(m_state->stream); }
Stream Stopwatch::other_stream() const { return cudaStream_t(m_state->other); }

double Stopwatch::time_queued(Work const& work) {
  return m_state->time([] {}, work);
}

double Stopwatch::time_queued_cold(Work const& work) {
  m_state->make_eviction();
  auto const evict = [this] {
    check(cudaMemsetAsync(m_state->eviction.get(), 0, m_state->eviction_bytes, m_state->stream),
          "cudaMemsetAsync");
  };
  return m_state->time(evict, work);
}

double Stopwatch::time_queued_on_both(Work const& work) {
  return m_state->time([] {},
                       [&] {
                         m_state->let_wait(m_state->other, m_state->stream);
                         work();
                         m_state->let_wait(m_state->stream, m_state->other);
                       });
}

double Stopwatch::time_queued_beside(Work const& work) {
  double const seconds = m_state->time([] {},
                                       [&] {
                                         m_state->let_wait(m_state->other, m_state->stream);
                                         work();
                                       });
  synchronize(m_state->other);
  return seconds;
}

double Stopwatch::time_with_host_clock(Work const& work) {
  synchronize(m_state->stream);
  auto const begin = std::chrono::steady_clock::now();
  work();
  synchronize(m_state->stream);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace KokkosHostSpaces::Perf
