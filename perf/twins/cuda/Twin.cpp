// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The vector kernels and transfers as a plain CUDA program does them.

#include "../Side.hpp"
#include "Check.hpp"

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {
namespace {

__device__ std::size_t index() { return blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; }

__global__ void add(double const* a, double const* b, double* c, std::size_t n) {
  std::size_t const i = index();
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void scale(double const* a, double* c, double s, std::size_t n) {
  std::size_t const i = index();
  if (i < n) c[i] = s * a[i];
}

__global__ void triad(double const* a, double const* b, double* c, double s, std::size_t n) {
  std::size_t const i = index();
  if (i < n) c[i] = a[i] + s * b[i];
}

using Memory = std::unique_ptr<double, void (*)(void*)>;

Memory pageable_memory(std::size_t bytes) {
  void* pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  return {static_cast<double*>(pointer), std::free};
}

// With unified addressing the device uses page-locked memory under its host address.
Memory pinned_memory(std::size_t bytes) {
  void* pointer;
  check(cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
        "cudaHostAlloc");
  return {static_cast<double*>(pointer), [](void* p) { (void)cudaFreeHost(p); }};
}

Memory device_memory(std::size_t bytes) {
  void* pointer;
  check(cudaMalloc(&pointer, bytes), "cudaMalloc");
  return {static_cast<double*>(pointer), [](void* p) { (void)cudaFree(p); }};
}

using Allocate = Memory (*)(std::size_t);

Allocate memory_of(Transport transport) {
  switch (transport) {
    case Transport::pageable: return pageable_memory;
    case Transport::pinned:
    case Transport::mapped: return pinned_memory;
    case Transport::resident: break;
  }
  return device_memory;
}

struct ThreeArrays {
  Memory a, b, c;
  ThreeArrays(Allocate allocate, std::size_t bytes)
      : a(allocate(bytes)), b(allocate(bytes)), c(allocate(bytes)) {}
  Arrays pointers() const { return {a.get(), b.get(), c.get()}; }
};

class CudaTwin final : public Side {
 public:
  CudaTwin(Transport transport, std::size_t capacity, Stream stream)
      : m_stream(static_cast<cudaStream_t>(stream)),
        m_data(memory_of(transport), capacity * sizeof(double)) {
    if (transport == Transport::pageable || transport == Transport::pinned)
      m_staging = std::make_unique<ThreeArrays>(device_memory, capacity * sizeof(double));
  }

  Arrays data() const override { return m_data.pointers(); }
  Arrays staging() const override { return m_staging ? m_staging->pointers() : Arrays{}; }

  void enqueue(Operation op, std::size_t n) override {
    if (!m_staging) return launch(op, data(), n);
    Arrays const host = data(), device = staging();
    if (reads_a(op)) copy(device.a, host.a, n);
    if (reads_b(op)) copy(device.b, host.b, n);
    if (is_kernel(op)) launch(op, device, n);
    if (writes_c(op)) copy(host.c, device.c, n);
  }

 private:
  void copy(double* dst, double const* src, std::size_t n) {
    check(cudaMemcpyAsync(dst, src, n * sizeof(double), cudaMemcpyDefault, m_stream),
          "cudaMemcpyAsync");
  }

  void launch(Operation op, Arrays const& v, std::size_t n) {
    constexpr unsigned threads = 256;
    auto const blocks          = static_cast<unsigned>((n + threads - 1) / threads);
    if (op == Operation::add)
      add<<<blocks, threads, 0, m_stream>>>(v.a, v.b, v.c, n);
    else if (op == Operation::scale)
      scale<<<blocks, threads, 0, m_stream>>>(v.a, v.c, scale_factor, n);
    else
      triad<<<blocks, threads, 0, m_stream>>>(v.a, v.b, v.c, scale_factor, n);
    check(cudaGetLastError(), "kernel launch");
  }

  cudaStream_t m_stream;
  ThreeArrays m_data;
  std::unique_ptr<ThreeArrays> m_staging;
};

}  // namespace

std::unique_ptr<Side> make_twin(Transport transport, std::size_t capacity, Stream stream) {
  return std::make_unique<CudaTwin>(transport, capacity, stream);
}

}  // namespace KokkosHostSpaces::Perf
