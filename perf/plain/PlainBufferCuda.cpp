// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "PlainBuffer.hpp"

#include "CheckCuda.hpp"

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {
namespace {

PlainBuffer pageable(std::size_t bytes) {
  void* const pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  return {pointer, std::free};
}

PlainBuffer page_locked(std::size_t bytes, unsigned flags) {
  void* pointer;
  check(cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable | cudaHostAllocMapped | flags),
        "cudaHostAlloc");
  return {pointer, [](void* p) { (void)cudaFreeHost(p); }};
}

PlainBuffer on_device(std::size_t bytes) {
  void* pointer;
  check(cudaMalloc(&pointer, bytes), "cudaMalloc");
  return {pointer, [](void* p) { (void)cudaFree(p); }};
}

}  // namespace

PlainBuffer make_plain_buffer(PlainKind kind, std::size_t bytes) {
  switch (kind) {
    case PlainKind::pageable: return pageable(bytes);
    case PlainKind::pinned: return page_locked(bytes, 0);
    case PlainKind::write_combined: return page_locked(bytes, cudaHostAllocWriteCombined);
    case PlainKind::device: break;
  }
  return on_device(bytes);
}

}  // namespace KokkosHostSpaces::Perf
