// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LatencyBaseline.hpp"

#include "../../plain/CheckCuda.hpp"

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

__global__ void follow(std::int64_t const* next, int steps, std::int64_t* end) {
  std::int64_t at = 0;
  for (int i = 0; i < steps; ++i) at = next[at];
  *end = at;
}

class CudaSteps final : public Steps {
 public:
  explicit CudaSteps(cudaStream_t stream) : m_stream(stream) {}

  void count(std::int64_t* count) override {
    add_one<<<1, 1, 0, m_stream>>>(count);
    check_launch();
  }

  void store(std::int64_t* where, std::int64_t value) override {
    store_value<<<1, 1, 0, m_stream>>>(where, value);
    check_launch();
  }

  void copy(double* destination, double const* source) override {
    copy_async(destination, source, sizeof(double), m_stream);
  }

  void answer(SignalAndAnswer* flags, int signals) override {
    answer_signals<<<1, 1, 0, m_stream>>>(flags, signals);
    check_launch();
  }

  void chase(std::int64_t const* next, int steps, std::int64_t* end) override {
    follow<<<1, 1, 0, m_stream>>>(next, steps, end);
    check_launch();
  }

  void fence() override { synchronize(m_stream); }

 private:
  cudaStream_t m_stream;
};

}  // namespace

std::unique_ptr<Steps> make_plain_steps(Stream stream) {
  return std::make_unique<CudaSteps>(static_cast<cudaStream_t>(stream));
}

}  // namespace KokkosHostSpaces::Perf
