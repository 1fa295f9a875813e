// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../plain/CheckCuda.hpp"
#include "AllocBaseline.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace KokkosHostSpaces::Perf {
namespace {

class CudaHostAlloc final : public AllocBaseline {
 public:
  std::string name() const override { return "cudaHostAlloc"; }

  void* allocate(std::size_t bytes) override {
    void* pointer;
    check(cudaHostAlloc(&pointer, bytes, cudaHostAllocDefault), "cudaHostAlloc");
    return pointer;
  }
  void free(void* pointer, std::size_t) noexcept override { (void)cudaFreeHost(pointer); }
};

class RegisteredPages final : public TouchedPages {
 public:
  std::string name() const override { return "mmap_cudaHostRegister"; }

  void* allocate(std::size_t bytes) override {
    void* const pointer = TouchedPages::allocate(bytes);
    cudaError_t const code =
        cudaHostRegister(pointer, whole_pages(bytes), cudaHostRegisterPortable);
    if (code != cudaSuccess) TouchedPages::free(pointer, bytes);
    check(code, "cudaHostRegister");
    return pointer;
  }
  void free(void* pointer, std::size_t bytes) noexcept override {
    (void)cudaHostUnregister(pointer);
    TouchedPages::free(pointer, bytes);
  }
};

// The driver's pool of memory on the NUMA node of the current device.
class DriverPool final : public AllocBaseline {
 public:
  DriverPool() {
    try {
      create();
    } catch (std::runtime_error const& error) {
      (void)cudaGetLastError();
      m_why_not = error.what();
    }
  }

  std::string name() const override { return "driver_host_pool"; }
  std::string why_not() const override { return m_why_not; }
  bool caches() const override { return true; }

  // The memory exists once the stream has reached the allocation.
  void* allocate(std::size_t bytes) override {
    void* pointer;
    check(cudaMallocFromPoolAsync(&pointer, bytes, m_pool, cudaStreamPerThread),
          "cudaMallocFromPoolAsync");
    check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
    return pointer;
  }
  void free(void* pointer, std::size_t) noexcept override {
    (void)cudaFreeAsync(pointer, cudaStreamPerThread);
  }

  void trim() override {
    if (!m_why_not.empty()) return;
    check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
    check(cudaMemPoolTrimTo(m_pool, 0), "cudaMemPoolTrimTo");
  }

 private:
  void create() {
    int device = 0, node = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device), "cudaDeviceGetAttribute");
    cudaMemPoolProps properties = {};
    properties.allocType        = cudaMemAllocationTypePinned;
    properties.location.type    = cudaMemLocationTypeHostNuma;
    properties.location.id      = std::max(node, 0);
    check(cudaMemPoolCreate(&m_pool, &properties), "cudaMemPoolCreate");

    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    check(cudaMemPoolSetAttribute(m_pool, cudaMemPoolAttrReleaseThreshold, &keep),
          "cudaMemPoolSetAttribute");
    cudaMemAccessDesc access = {};
    access.location.type     = cudaMemLocationTypeDevice;
    access.location.id       = device;
    access.flags             = cudaMemAccessFlagsProtReadWrite;
    check(cudaMemPoolSetAccess(m_pool, &access, 1), "cudaMemPoolSetAccess");
  }

  std::string m_why_not;
  cudaMemPool_t m_pool = nullptr;
};

}  // namespace

AllocBaselines const& alloc_baselines() {
  static AllocBaselines const baselines = [] {
    AllocBaselines all;
    all.push_back(std::make_unique<CudaHostAlloc>());
    all.push_back(std::make_unique<DriverPool>());
    all.push_back(std::make_unique<RegisteredPages>());
    return all;
  }();
  return baselines;
}

}  // namespace KokkosHostSpaces::Perf
