// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../PlainMemory.hpp"
#include "../TouchedPages.hpp"
#include "Check.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace KokkosHostSpaces::Perf {
namespace {

void* allocate_by_cuda(std::size_t bytes) {
  void* pointer;
  check(cudaHostAlloc(&pointer, bytes, cudaHostAllocDefault), "cudaHostAlloc");
  return pointer;
}

void free_by_cuda(void* pointer, std::size_t) noexcept { (void)cudaFreeHost(pointer); }

void* map_and_register(std::size_t bytes) {
  void* const pointer    = map_touched_pages(bytes);
  cudaError_t const code = cudaHostRegister(pointer, whole_pages(bytes), cudaHostRegisterPortable);
  if (code != cudaSuccess) unmap_pages(pointer, bytes);
  check(code, "cudaHostRegister");
  return pointer;
}

void unregister_and_unmap(void* pointer, std::size_t bytes) noexcept {
  (void)cudaHostUnregister(pointer);
  unmap_pages(pointer, bytes);
}

// The driver's pool of memory on the NUMA node next to the current device. It lives as long as the
// process.
class DriverPool {
 public:
  static DriverPool& instance() {
    static DriverPool pool;
    return pool;
  }

  std::string why_not;
  cudaMemPool_t handle = nullptr;

 private:
  DriverPool() {
    try {
      create();
    } catch (std::runtime_error const& error) {
      (void)cudaGetLastError();
      why_not = error.what();
    }
  }

  void create() {
    int device = 0, node = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device), "cudaDeviceGetAttribute");
    cudaMemPoolProps properties = {};
    properties.allocType        = cudaMemAllocationTypePinned;
    properties.location.type    = cudaMemLocationTypeHostNuma;
    properties.location.id      = std::max(node, 0);
    check(cudaMemPoolCreate(&handle, &properties), "cudaMemPoolCreate");

    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    check(cudaMemPoolSetAttribute(handle, cudaMemPoolAttrReleaseThreshold, &keep),
          "cudaMemPoolSetAttribute");
    cudaMemAccessDesc access = {};
    access.location.type     = cudaMemLocationTypeDevice;
    access.location.id       = device;
    access.flags             = cudaMemAccessFlagsProtReadWrite;
    check(cudaMemPoolSetAccess(handle, &access, 1), "cudaMemPoolSetAccess");
  }
};

// The memory is there when the stream has come to it.
void* allocate_from_pool(std::size_t bytes) {
  void* pointer;
  check(
      cudaMallocFromPoolAsync(&pointer, bytes, DriverPool::instance().handle, cudaStreamPerThread),
      "cudaMallocFromPoolAsync");
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  return pointer;
}

void free_to_pool(void* pointer, std::size_t) noexcept {
  (void)cudaFreeAsync(pointer, cudaStreamPerThread);
}

}  // namespace

std::vector<PlainMemory> const& plain_memories() {
  static std::vector<PlainMemory> const all = {
      {"cudaHostAlloc", "", false, allocate_by_cuda, free_by_cuda},
      {"driver_host_pool", DriverPool::instance().why_not, true, allocate_from_pool, free_to_pool},
      {"mmap_cudaHostRegister", "", false, map_and_register, unregister_and_unmap},
  };
  return all;
}

void trim_plain_memories() {
  DriverPool const& pool = DriverPool::instance();
  if (!pool.why_not.empty()) return;
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  check(cudaMemPoolTrimTo(pool.handle, 0), "cudaMemPoolTrimTo");
}

}  // namespace KokkosHostSpaces::Perf
