// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Where a batch of copies cannot be one call: captures, several devices, memory in several pieces.

#include "CopyBatchCases.hpp"

#include <cuda.h>

namespace CopyBatches {

TEST_CASE("nothing is merged in advance while a stream captures, or where devices are several",
          "[copy_batch]") {
  {
    Memory memory(1 << 16);
    DeviceWork::Stream stream;
    REQUIRE(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_FALSE(CopyBatch::may_merge(stream.get()));
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess);
    cudaGraphDestroy(graph);
    CHECK(CopyBatch::may_merge(stream.get()));
  }
  Memory memory(1 << 16, 1, 2);
  DeviceWork::Stream stream;
  CHECK(CopyBatch::may_merge(stream.get()));
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  void* other = nullptr;
  REQUIRE(cudaMalloc(&other, 100) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK_FALSE(CopyBatch::may_merge(stream.get()));
  cudaFree(other);
}

TEST_CASE("where one call is refused, single copies do it, or tell the error", "[copy_batch]") {
  Memory memory(1 << 16);
  DeviceWork::Stream stream;
  CHECK(CopyBatch::has_call(stream.get()));
  CopyBatch batch;
  add_irregular(memory, batch, 100);
  CopyBatch again = batch;
  FakeCuda::fail_nth_call("cuMemcpyBatchAsync", 1, CUDA_ERROR_NOT_SUPPORTED);
  CHECK(run(batch, stream) == Calls{100, 0, 1});
  CHECK(memory.is_copied());
  CHECK(cudaPeekAtLastError() == cudaSuccess);

  FakeCuda::fail_nth_call("cuMemcpyBatchAsync", 1, CUDA_ERROR_LAUNCH_FAILED);
  FakeCuda::fail_nth_call("cudaMemcpyAsync", 50, cudaErrorLaunchFailure);
  CHECK_THROWS_AS(again.enqueue(stream.get(), -1), KokkosHostSpaces::CudaError);
}

TEST_CASE("a driver that has no such call is not asked for it", "[copy_batch]") {
  Memory memory(1 << 16);
  FakeCuda::use_old_driver();
  DeviceWork::Stream stream;
  CHECK_FALSE(CopyBatch::has_call(stream.get()));
  CopyBatch batch;
  add_irregular(memory, batch, 100);
  CHECK(run(batch, stream) == Calls{100, 0, 0});
  CHECK(memory.is_copied());
}

TEST_CASE("the legacy default stream gets no batch call, by neither of its handles",
          "[copy_batch]") {
  Memory memory(1 << 16);
  for (Backend::Driver::Stream const stream :
       {Backend::Driver::Stream(nullptr), Backend::Driver::Stream(cudaStreamLegacy)}) {
    CopyBatch batch;
    add_irregular(memory, batch, 20);
    batch.sort();
    Calls const before;
    CHECK_FALSE(CopyBatch::has_call(stream));
    batch.enqueue(stream, -1);
    Backend::Driver::fence(stream);
    CHECK(Calls().batches == before.batches);
    CHECK(Calls().copies == before.copies + 20);
    CHECK(memory.is_copied());
  }
}

TEST_CASE("a stream that captures gets single copies of pieces that are not for a kernel",
          "[copy_batch]") {
  Memory memory(1 << 18);
  DeviceWork::Stream stream;
  std::size_t const large = copy_thresholds.by_kernel.back().most_bytes / 2;
  for (int const kernel_device : {-1, 0}) {
    CopyBatch batch;
    add_irregular(memory, batch, 20);
    for (std::size_t i = 0; i < 30; ++i) memory.add(batch, 20000 + 100 * i, 20000 + 100 * i, 100);
    memory.add(batch, 50000, 50000, large);
    CHECK_FALSE(batch.find_conflict());
    REQUIRE(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
    Calls const before;
    auto const for_kernel = batch.enqueue(stream.get(), kernel_device).for_kernel;
    Calls const after;
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess);
    cudaGraphDestroy(graph);
    CHECK(for_kernel.size() == (kernel_device < 0 ? 0 : 51));
    CHECK(after.copies == before.copies + 51 - for_kernel.size());
    CHECK(after.batches == before.batches);
  }
}

TEST_CASE("neighbours and rows in two registrations that touch are copied all the same",
          "[copy_batch]") {
  Memory memory(8 * page, 8);
  DeviceWork::Stream stream;
  CopyBatch neighbours, rows;
  memory.add(neighbours, 0, page / 2, page / 2);
  memory.add(neighbours, page / 2, page, page / 2);
  CHECK(run(neighbours, stream, -1, memory.added) == Calls{3, 0, 0});  // one refused
  CHECK(memory.is_copied());
  for (std::size_t i = 0; i < 8; ++i) memory.add(rows, page * i, page * i, 100 + 8);
  CHECK(run(rows, stream) == Calls{0, 1, 1});  // the first refused
  CHECK(memory.is_copied());
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("pageable memory is copied piece by piece", "[copy_batch]") {
  Memory memory(1 << 16);
  DeviceWork::Stream stream;
  std::vector<char> pageable(1000, 'x');
  CopyBatch batch;
  for (std::size_t i = 0; i < 10; ++i) {
    batch.add({memory.device + 300 * i + i % 2, pageable.data() + 90 * i, 50 + i, 0, true});
    std::copy_n(pageable.data() + 90 * i, 50 + i,
                memory.expected.begin() + std::ptrdiff_t(300 * i + i % 2));
  }
  CHECK(run(batch, stream) == Calls{10, 0, 0});
  CHECK(memory.is_copied());
}

TEST_CASE("where memory of other devices takes part nothing is merged, nor left to a kernel",
          "[copy_batch]") {
  Memory memory(1 << 20, 1, 2);
  DeviceWork::Stream stream;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  void* other = nullptr;
  REQUIRE(cudaMalloc(&other, 100) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CopyBatch batch;
  add_irregular(memory, batch, 100);
  for (std::size_t i = 0; i < 80; ++i) memory.add(batch, 60000 + 300 * i, 500 * i, 200);
  batch.sort();
  CHECK(CopyBatch(batch).enqueue(stream.get(), 0).for_kernel.size() == 100);
  batch.add({static_cast<char*>(other), memory.host, 100, 200, false});
  CHECK(run(batch, stream, 0) == Calls{181, 0, 0});
  CHECK(memory.is_copied());
  CHECK(std::equal(memory.host, memory.host + 100, static_cast<char*>(other)));
  cudaFree(other);
}

}  // namespace CopyBatches
