// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "GateCuda.hpp"

#include "CheckCuda.hpp"

#include <cuda/atomic>

#include <atomic>

namespace KokkosHostSpaces::Perf {
namespace {

__device__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

using DeviceFlag = cuda::atomic_ref<int, cuda::thread_scope_system>;

__global__ void wait_at(Gate::Flags* flags, unsigned long long give_up_after_ns) {
  unsigned long long const begin = nanoseconds();
  DeviceFlag(flags->reached).store(1, cuda::memory_order_relaxed);
  while (DeviceFlag(flags->open).load(cuda::memory_order_acquire) == 0) {
    if (nanoseconds() - begin > give_up_after_ns) {
      DeviceFlag(flags->gave_up).store(1, cuda::memory_order_relaxed);
      return;
    }
  }
}

bool is_set(int& flag) { return std::atomic_ref<int>(flag).load(std::memory_order_acquire) != 0; }

}  // namespace

Gate::Gate() {
  check(cudaHostAlloc(&m_flags, sizeof(Flags), cudaHostAllocMapped), "cudaHostAlloc");
}

Gate::~Gate() { (void)cudaFreeHost(m_flags); }

void Gate::close(cudaStream_t stream, double give_up_after_seconds) {
  *m_flags = {0, 0, 0};
  wait_at<<<1, 1, 0, stream>>>(m_flags,
                               static_cast<unsigned long long>(give_up_after_seconds * 1e9));
  check(cudaGetLastError(), "launch of the blocking kernel");
}

void Gate::open() noexcept {
  std::atomic_ref<int>(m_flags->open).store(1, std::memory_order_release);
}

bool Gate::is_reached() const { return is_set(m_flags->reached); }

bool Gate::gave_up() const { return is_set(m_flags->gave_up); }

}  // namespace KokkosHostSpaces::Perf
