// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Batches of copies on a made-up CUDA runtime: what is asked of it is counted, and its calls can
// fail.

#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"

#include <KokkosHostSpaces/impl/CopyBatch.hpp>
#include <KokkosHostSpaces/impl/CopyThresholds.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <sys/mman.h>

#include <catch2/catch_test_macros.hpp>

namespace CopyBatches {

using namespace KokkosHostSpaces::Impl;

namespace {

constexpr std::size_t page = 4096;

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
      Driver::lock_pages(locked.back(), of_each);
    }
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
    device = static_cast<char*>(memory);
    for (std::size_t i = 0; i < bytes; ++i) host[i] = static_cast<char>(i * 2654435761u >> 20);
    std::fill_n(device, bytes, char(0));
  }
  ~Memory() {
    for (char* const begin : locked) Driver::unlock_pages(begin, bytes / locked.size());
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

struct Calls {
  std::size_t copies                  = FakeCuda::calls("cudaMemcpyAsync");
  std::size_t boxes                   = FakeCuda::calls("cudaMemcpy2DAsync");
  std::size_t batches                 = FakeCuda::calls("cudaMemcpyBatchAsync");
  bool operator==(Calls const&) const = default;
};

// Enqueues, and waits; the calls that it took. What is refused is copied as deep_copy_all does it.
Calls run(CopyBatch& batch, DeviceWork::Stream& stream, int kernel_device = -1,
          std::vector<CopyPiece> const& added = {}) {
  Calls const before;
  CHECK_FALSE(batch.find_conflict());
  CopyBatch::Rest const rest = batch.enqueue(stream.get(), kernel_device);
  CHECK(rest.for_kernel.empty());
  CHECK(rest.refused == !added.empty());
  for (CopyPiece const& piece : added)
    Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
  Driver::fence(stream.get());
  Calls const after;
  return {after.copies - before.copies, after.boxes - before.boxes, after.batches - before.batches};
}

// Pieces that nothing can be made of but a batch.
void add_irregular(Memory& memory, CopyBatch& batch, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    memory.add(batch, 512 * i, 512 * (i * 7 % count) + i % 3, 100 + i % 5);
}

}  // namespace

TEST_CASE("neighbours are one copy, in whatever order they are given", "[copy_batch]") {
  Memory memory(1 << 20);
  DeviceWork::Stream stream;
  CopyBatch batch;
  std::vector<std::size_t> order(1000);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  for (std::size_t const i : order) memory.add(batch, 64 + 100 * i, 1000 + 100 * i, 100);
  CHECK(run(batch, stream) == Calls{1, 0, 0});
  CHECK(memory.is_copied());
}

TEST_CASE("neighbours are merged as they are added, on both sides alone, and found to conflict",
          "[copy_batch]") {
  Memory memory(1 << 20);
  DeviceWork::Stream stream;
  REQUIRE(CopyBatch::may_merge(stream.get()));
  CopyBatch batch(CopyBatch::Neighbours::merged, 1000);
  for (std::size_t i = 0; i < 1000; ++i) memory.add(batch, 64 + 100 * i, 1000 + 100 * i, 100);
  memory.add(batch, 64 + 100 * 1000, 500000, 100);  // a neighbour at the device alone, ...
  memory.add(batch, 500000, 500100, 100);           // ... and at the host
  memory.add(batch, 600000, 600000, 0);
  memory.add(batch, 500100, 500200, 50);
  CHECK(run(batch, stream) == Calls{3, 0, 0});
  CHECK(memory.is_copied());

  CopyBatch again(CopyBatch::Neighbours::merged, 3);
  memory.add(again, 0, 0, 100);
  memory.add(again, 100, 100, 100);
  memory.add(again, 150, 500, 10);
  CHECK(again.find_conflict());
  CopyBatch within(CopyBatch::Neighbours::merged, 2);  // the second one reads what the first writes
  within.add({memory.host + 100, memory.host, 100, 0, false});
  within.add({memory.host + 200, memory.host + 100, 100, 1, false});
  CHECK(within.find_conflict());
}

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

TEST_CASE("equal pieces at equal distances are one 2-D copy, and one for each regular part",
          "[copy_batch]") {
  Memory memory(1 << 20);
  DeviceWork::Stream stream;
  CopyBatch batch;
  for (std::size_t i = 0; i < 100; ++i) memory.add(batch, 300 * i, 500 * i, 200);
  CHECK(run(batch, stream) == Calls{0, 1, 0});
  CHECK(memory.is_copied());

  CopyBatch two;
  for (std::size_t i = 0; i < 100; ++i) memory.add(two, 300 * i, 500 * i + 7, 200);
  for (std::size_t i = 0; i < 100; ++i) memory.add(two, 100000 + 300 * i, 100000 + 400 * i, 200);
  CHECK(run(two, stream) == Calls{0, 2, 0});
  CHECK(memory.is_copied());
}

TEST_CASE("irregular pieces are one call, a few are single copies", "[copy_batch]") {
  Memory memory(1 << 20);
  DeviceWork::Stream stream;
  CopyBatch many, few;
  add_irregular(memory, many, 1000);
  CHECK(run(many, stream) == Calls{0, 0, 1});
  CHECK(memory.is_copied());
  add_irregular(memory, few, copy_thresholds.batch_pieces - 1);
  CHECK(run(few, stream) == Calls{copy_thresholds.batch_pieces - 1, 0, 0});
  CHECK(memory.is_copied());
}

TEST_CASE("where one call is refused, single copies do it, or tell the error", "[copy_batch]") {
  Memory memory(1 << 16);
  DeviceWork::Stream stream;
  CopyBatch batch;
  add_irregular(memory, batch, 100);
  FakeCuda::fail_nth_call("cudaMemcpyBatchAsync", 1, cudaErrorCallRequiresNewerDriver);
  CHECK(run(batch, stream) == Calls{100, 0, 1});
  CHECK(memory.is_copied());
  CHECK(cudaPeekAtLastError() == cudaSuccess);

  FakeCuda::fail_nth_call("cudaMemcpyBatchAsync", 1, cudaErrorLaunchFailure);
  FakeCuda::fail_nth_call("cudaMemcpyAsync", 50, cudaErrorLaunchFailure);
  CHECK_THROWS_AS(batch.enqueue(stream.get(), -1), KokkosHostSpaces::CudaError);
}

TEST_CASE("the legacy default stream gets no batch call, by neither of its handles",
          "[copy_batch]") {
  Memory memory(1 << 16);
  for (Driver::Stream const stream : {Driver::Stream(nullptr), Driver::Stream(cudaStreamLegacy)}) {
    CopyBatch batch;
    add_irregular(memory, batch, 20);
    batch.sort();
    Calls const before;
    batch.enqueue(stream, -1);
    Driver::fence(stream);
    CHECK(Calls().batches == before.batches);
    CHECK(Calls().copies == before.copies + 20);
    CHECK(memory.is_copied());
  }
}

TEST_CASE("a stream that captures gets single copies of single pieces, and its capture survives",
          "[copy_batch]") {
  Memory memory(1 << 16);
  DeviceWork::Stream stream;
  CopyBatch batch;
  add_irregular(memory, batch, 20);
  for (std::size_t i = 0; i < 30; ++i) memory.add(batch, 20000 + 100 * i, 20000 + 100 * i, 100);
  CHECK_FALSE(batch.find_conflict());
  REQUIRE(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
  Calls const before;
  CHECK(batch.enqueue(stream.get(), 0).for_kernel.empty());
  Calls const after;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess);
  cudaGraphDestroy(graph);
  CHECK(after.copies == before.copies + 50);
  CHECK(after.batches == before.batches);
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

TEST_CASE("short pieces are left to a kernel where there is one, if they are many",
          "[copy_batch]") {
  Memory memory(1 << 20);
  DeviceWork::Stream stream;
  CopyBatch batch;
  add_irregular(memory, batch, 100);
  std::size_t const large = copy_thresholds.by_kernel.back().most_bytes + 1;
  memory.add(batch, 512 * 200, 0, large);
  CHECK_FALSE(batch.find_conflict());
  Calls const before;
  std::vector<CopyPiece> const left = batch.enqueue(stream.get(), 0).for_kernel;
  Driver::fence(stream.get());
  CHECK((left.size() == 100 && Calls().copies == before.copies + 1));
  for (CopyPiece const& piece : left) std::copy_n(piece.src, piece.bytes, piece.dst);
  CHECK(memory.is_copied());
}

TEST_CASE("how long the pieces for a kernel may be depends on how many there are", "[copy_batch]") {
  auto const [few, many] = copy_thresholds.by_kernel;
  auto const left        = [](std::size_t count, std::size_t bytes) {
    Memory memory(1 << 22);
    DeviceWork::Stream stream;
    CopyBatch batch;
    for (std::size_t i = 0; i < count; ++i)
      memory.add(batch, 40000 * i, 35000 * (i * 7 % count) + i % 3, bytes);
    CHECK_FALSE(batch.find_conflict());
    auto const pieces = batch.enqueue(stream.get(), 0).for_kernel;
    Driver::fence(stream.get());
    return pieces.size();
  };
  CHECK(left(few.least_number - 1, 100) == 0);
  CHECK(left(few.least_number, few.most_bytes) == few.least_number);
  CHECK(left(few.least_number, few.most_bytes + 1) == 0);
  CHECK(left(many.least_number - 1, many.most_bytes) == 0);
  CHECK(left(many.least_number, many.most_bytes) == many.least_number);
  CHECK(left(many.least_number, many.most_bytes + 1) == 0);
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

TEST_CASE("copies that depend on each other are found", "[copy_batch]") {
  char memory[1000];
  auto const conflict = [&](std::vector<std::vector<std::size_t>> const& copies) {
    CopyBatch batch;
    std::uint32_t pair = 0;
    for (auto const& c : copies) batch.add({memory + c[0], memory + c[1], c[2], pair++, false});
    return batch.find_conflict();
  };
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  CHECK_FALSE(conflict({}));
  CHECK_FALSE(conflict({{0, 500, 100}, {100, 500, 100}, {300, 600, 100}}));  // a source twice
  CHECK(conflict({{0, 500, 101}, {100, 700, 100}}) == Pair(0, 1));
  CHECK(conflict({{100, 700, 100}, {0, 500, 101}}) == Pair(1, 0));
  CHECK(conflict({{0, 500, 100}, {450, 700, 51}}) == Pair(1, 0));  // reads what is written
  CHECK_FALSE(conflict({{0, 500, 100}, {450, 700, 50}}));
  CHECK(conflict({{400, 0, 300}, {100, 690, 20}}) == Pair(0, 1));
}

TEST_CASE("random batches copy what single copies would", "[copy_batch]") {
  unsigned const seed = 20251122;
  std::mt19937 random(seed);
  Memory memory(1 << 18);
  DeviceWork::Stream stream;
  for (int round = 0; round < 100; ++round) {
    INFO("seed " << seed << ", round " << round);
    CopyBatch batch;
    std::size_t to = random() % 50, from = random() % 50;
    std::size_t bytes = 1 + random() % 300, gap_to = 0, gap_from = 0;
    while (to + 1000 < memory.bytes && from + 1000 < memory.bytes && random() % 200 != 0) {
      memory.add(batch, to, from, bytes);
      to += bytes + gap_to + 300 * (random() % 20 == 0);
      from = random() % 30 == 0 ? random() % 1000 : from + bytes + gap_from;
      if (random() % 10 == 0) {
        bytes    = 1 + random() % 300;
        gap_to   = random() % 3 * (random() % 100);
        gap_from = random() % 3 * (random() % 100);
      }
    }
    REQUIRE_FALSE(batch.find_conflict());
    CHECK(batch.enqueue(stream.get(), -1).for_kernel.empty());
    Driver::fence(stream.get());
    REQUIRE(memory.is_copied());
  }
}

}  // namespace CopyBatches
