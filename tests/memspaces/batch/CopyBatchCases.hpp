// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Batches of copies on a made-up CUDA runtime: what is asked of it is counted, and its calls can
// fail.

#ifndef KOKKOS_HOST_SPACES_TESTS_COPY_BATCH_CASES_HPP
#define KOKKOS_HOST_SPACES_TESTS_COPY_BATCH_CASES_HPP

#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"

#include <KokkosHostSpaces/impl/batch/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <algorithm>
#include <vector>

#include <sys/mman.h>

#include <catch2/catch_test_macros.hpp>

namespace CopyBatches {

using namespace KokkosHostSpaces::Impl;

inline constexpr std::size_t page = 4096;

// Page-locked memory of the host, in so many registrations that touch, and device memory.
struct Memory {
  explicit Memory(std::size_t size, std::size_t registrations = 1, int devices = 1)
      : bytes(size), expected(size) {
    FakeCuda::reset(devices);
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    host                      = static_cast<char*>(pages);
    std::size_t const of_each = bytes / registrations;
    for (std::size_t i = 0; i < registrations; ++i) {
      locked.push_back(host + i * of_each);
      Backend::Driver::lock_pages(locked.back(), of_each);
    }
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
    device = static_cast<char*>(memory);
    for (std::size_t i = 0; i < bytes; ++i) host[i] = static_cast<char>(i * 2654435761u >> 20);
    std::fill_n(device, bytes, char(0));
  }
  ~Memory() {
    for (char* const begin : locked) Backend::Driver::unlock_pages(begin, bytes / locked.size());
    cudaFree(device);
    munmap(host, bytes);
  }
  Memory(Memory const&)            = delete;
  Memory& operator=(Memory const&) = delete;

  void add(CopyBatch& batch, std::size_t to, std::size_t from, std::size_t length,
           bool pageable = false) {
    added.push_back({device + to, host + from, length, pair++, pageable});
    batch.add(added.back());
    std::copy_n(host + from, length, expected.begin() + std::ptrdiff_t(to));
  }
  bool is_copied() const { return std::equal(expected.begin(), expected.end(), device); }

  std::size_t bytes;
  std::vector<char> expected;
  char *host = nullptr, *device = nullptr;
  std::vector<char*> locked;
  std::vector<CopyPiece> added;
  std::uint32_t pair = 0;
};

// All that copies could have changed.
struct Contents {
  explicit Contents(Memory const& memory)
      : host(memory.host, memory.host + memory.bytes),
        device(memory.device, memory.device + memory.bytes) {}
  void put(Memory const& memory) const {
    std::copy(host.begin(), host.end(), memory.host);
    std::copy(device.begin(), device.end(), memory.device);
  }
  bool operator==(Contents const&) const = default;
  std::vector<char> host, device;
};

struct Calls {
  std::size_t copies                  = FakeCuda::calls("cudaMemcpyAsync");
  std::size_t boxes                   = FakeCuda::calls("cudaMemcpy2DAsync");
  std::size_t batches                 = FakeCuda::calls("cuMemcpyBatchAsync");
  bool operator==(Calls const&) const = default;
};

// Enqueues, and waits; the calls that it took. What is refused is copied as deep_copy_all does it.
inline Calls run(CopyBatch& batch, DeviceWork::Stream& stream, int kernel_device = -1,
                 std::vector<CopyPiece> const& added = {}) {
  Calls const before;
  CHECK_FALSE(batch.find_conflict());
  CopyBatch::Rest const rest = batch.enqueue(stream.get(), kernel_device);
  CHECK(rest.for_kernel.empty());
  CHECK(rest.refused == !added.empty());
  for (CopyPiece const& piece : added)
    Backend::Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
  Backend::Driver::fence(stream.get());
  Calls const after;
  return {after.copies - before.copies, after.boxes - before.boxes, after.batches - before.batches};
}

// Pieces that nothing can be made of but a batch.
inline void add_irregular(Memory& memory, CopyBatch& batch, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    memory.add(batch, 512 * i, 512 * (i * 7 % count) + i % 3, 100 + i % 5);
}

}  // namespace CopyBatches

#endif
