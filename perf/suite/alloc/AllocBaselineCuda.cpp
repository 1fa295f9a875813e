// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../plain/CheckCuda.hpp"
#include "AllocBaseline.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace KokkosHostSpaces::Perf {
namespace {

AllocBaseline cuda_host_alloc() {
  return {"cudaHostAlloc",
          [](std::size_t bytes) {
            void* pointer;
            check(cudaHostAlloc(&pointer, bytes, cudaHostAllocDefault), "cudaHostAlloc");
            return pointer;
          },
          [](void* pointer, std::size_t) { (void)cudaFreeHost(pointer); }};
}

AllocBaseline registered_pages() {
  return {"mmap_cudaHostRegister",
          [](std::size_t bytes) {
            void* const pointer = map_and_touch(bytes);
            cudaError_t const code =
                cudaHostRegister(pointer, whole_pages(bytes), cudaHostRegisterPortable);
            if (code != cudaSuccess) unmap(pointer, bytes);
            check(code, "cudaHostRegister");
            return pointer;
          },
          [](void* pointer, std::size_t bytes) {
            (void)cudaHostUnregister(pointer);
            unmap(pointer, bytes);
          }};
}

cudaMemPool_t make_pool() {
  int device = 0, node = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device), "cudaDeviceGetAttribute");
  cudaMemPoolProps properties = {};
  properties.allocType        = cudaMemAllocationTypePinned;
  properties.location.type    = cudaMemLocationTypeHostNuma;
  properties.location.id      = std::max(node, 0);
  cudaMemPool_t pool          = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");

  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "cudaMemPoolSetAttribute");
  cudaMemAccessDesc access = {};
  access.location.type     = cudaMemLocationTypeDevice;
  access.location.id       = device;
  access.flags             = cudaMemAccessFlagsProtReadWrite;
  check(cudaMemPoolSetAccess(pool, &access, 1), "cudaMemPoolSetAccess");
  return pool;
}

// The driver's pool of memory on the NUMA node of the current device. The memory exists once the stream has
// reached the allocation.
AllocBaseline driver_pool() {
  AllocBaseline made{.name = "driver_host_pool", .allocate = {}, .free = {}, .caches = true};
  try {
    cudaMemPool_t const pool = make_pool();
    made.allocate            = [pool](std::size_t bytes) {
      void* pointer;
      check(cudaMallocFromPoolAsync(&pointer, bytes, pool, cudaStreamPerThread),
                       "cudaMallocFromPoolAsync");
      synchronize(cudaStreamPerThread);
      return pointer;
    };
    made.free = [](void* pointer, std::size_t) {
      (void)cudaFreeAsync(pointer, cudaStreamPerThread);
    };
    made.trim = [pool] {
      synchronize(cudaStreamPerThread);
      check(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
    };
  } catch (std::runtime_error const& error) {
    (void)cudaGetLastError();
    made.why_not = error.what();
  }
  return made;
}

}  // namespace

std::vector<AllocBaseline>& alloc_baselines() {
  static std::vector<AllocBaseline> baselines = {cuda_host_alloc(), driver_pool(),
                                                 registered_pages()};
  return baselines;
}

}  // namespace KokkosHostSpaces::Perf
