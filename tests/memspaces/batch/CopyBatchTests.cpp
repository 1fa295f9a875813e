// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a batch of copies is made of: merged neighbours, rows, one call, and what is left to a kernel.

#include "CopyBatchCases.hpp"

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>

#include <numeric>
#include <random>

namespace CopyBatches {

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

TEST_CASE("pieces at any addresses and in any order are merged, few or thousands", "[copy_batch]") {
  std::mt19937 random(11);
  for (std::size_t const count : {3, 31, 32, 33, 100, 5000}) {
    Memory memory(1 << 22);
    DeviceWork::Stream stream;
    CopyBatch batch;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::shuffle(order.begin(), order.end(), random);
    std::size_t const bytes = 1 + random() % 800;
    for (std::size_t const i : order) memory.add(batch, 17 + bytes * i, 5 + bytes * i, bytes);
    INFO(count << " pieces of " << bytes << " bytes");
    CHECK(run(batch, stream) == Calls{1, 0, 0});
    CHECK(memory.is_copied());
  }
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
  CHECK(run(batch, stream) == Calls{0, 0, 1});  // of three pieces
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
  Backend::Driver::fence(stream.get());
  CHECK((left.size() == 100 && Calls().copies == before.copies + 1));
  for (CopyPiece const& piece : left) std::copy_n(piece.src, piece.bytes, piece.dst);
  CHECK(memory.is_copied());
}

TEST_CASE("how long the pieces for a kernel may be depends on how many there are", "[copy_batch]") {
  auto const few = copy_thresholds.by_kernel.front(), many = copy_thresholds.by_kernel[1];
  auto const left = [](std::size_t count, std::size_t bytes) {
    Memory memory(1 << 23);
    DeviceWork::Stream stream;
    CopyBatch batch;
    for (std::size_t i = 0; i < count; ++i)
      memory.add(batch, 300000 * i, 300000 * (i * 7 % count) + i % 3, bytes);
    CHECK_FALSE(batch.find_conflict());
    auto const pieces = batch.enqueue(stream.get(), 0).for_kernel;
    Backend::Driver::fence(stream.get());
    return pieces.size();
  };
  CHECK(left(few.least_number - 1, 100) == 0);
  CHECK(left(few.least_number, few.most_bytes) == few.least_number);
  CHECK(left(few.least_number, few.most_bytes + 1) == 0);
  CHECK(left(many.least_number - 1, many.most_bytes) == 0);
  CHECK(left(many.least_number, many.most_bytes) == many.least_number);
  CHECK(left(many.least_number, many.most_bytes + 1) == 0);
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

TEST_CASE("copies that depend on each other are found, in whatever order they come",
          "[copy_batch]") {
  unsigned const seed = 20251123;
  std::mt19937 random(seed);
  char memory[4000];
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    INFO("seed " << seed << ", round " << round);
    CopyBatch batch(round % 2 == 0 ? CopyBatch::Neighbours::apart : CopyBatch::Neighbours::merged);
    std::vector<CopyPiece> pieces;
    std::size_t const count = 1 + random() % 30, spread = 1 + random() % 12;
    std::size_t dst = random() % 2 * 2000;
    for (std::size_t i = 0; i < count; ++i) {
      if (random() % 10 == 0) dst = random() % 3900;
      std::size_t const bytes = 1 + random() % 20;
      pieces.push_back({memory + dst, memory + random() % 2000, bytes, std::uint32_t(i), false});
      batch.add(pieces.back());
      dst = std::min<std::size_t>(dst + bytes + random() % spread * 5, 3900);
      if (i == count / 2 && random() % 4 == 0) batch.sort();
    }
    auto const meet = [](char const* a, std::size_t a_bytes, char const* b, std::size_t b_bytes) {
      return a < b + b_bytes && b < a + a_bytes;
    };
    bool expected = false;
    for (CopyPiece const& a : pieces)
      for (CopyPiece const& b : pieces)
        expected |= meet(a.dst, a.bytes, b.src, b.bytes) ||
                    (a.pair != b.pair && meet(a.dst, a.bytes, b.dst, b.bytes));
    REQUIRE(batch.find_conflict().has_value() == expected);
    REQUIRE(batch.find_conflict().has_value() == expected);  // it is sorted now
    found += expected;
  }
  CHECK((found > 500 && found < 2500));
}

TEST_CASE("a plan is carried out again and again by the same calls", "[copy_batch]") {
  Memory memory(1 << 20);
  DeviceWork::Stream stream;
  CopyBatch batch;
  add_irregular(memory, batch, 100);
  for (std::size_t i = 0; i < 80; ++i) memory.add(batch, 100000 + 300 * i, 100000 + 500 * i, 200);
  for (std::size_t i = 0; i < 50; ++i) memory.add(batch, 300000 + 64 * i, 300000 + 64 * i, 64);
  REQUIRE_FALSE(batch.find_conflict());
  BatchPlan const plan = batch.plan(-1);
  for (int time = 0; time < 3; ++time) {
    for (CopyPiece const& piece : memory.added) {
      auto* const from = const_cast<char*>(piece.src);
      std::fill_n(from, piece.bytes, char(3 * time + 1));
      std::copy_n(from, piece.bytes, memory.expected.begin() + (piece.dst - memory.device));
    }
    Calls const before;
    CHECK(plan.enqueue(stream.get()));
    Backend::Driver::fence(stream.get());
    Calls const after;
    CHECK(after.copies == before.copies);
    CHECK(after.boxes == before.boxes + 1);
    CHECK(after.batches == before.batches + 1);
    CHECK(memory.is_copied());
  }
}

TEST_CASE("a plan that is used again leaves fewer pieces to the kernel, from two on",
          "[copy_batch]") {
  Memory memory(1 << 21);
  auto const left = [&](std::size_t count, std::size_t bytes, BatchPlan::Use use) {
    CopyBatch batch;
    for (std::size_t i = 0; i < count; ++i)
      memory.add(batch, 100000 * i, 100000 * (i * 3 % count), bytes);
    CHECK_FALSE(batch.find_conflict());
    return batch.plan(0, use).for_kernel.size();
  };
  std::size_t const most = copy_thresholds.by_kernel.front().most_bytes;
  CHECK(left(1, 64, BatchPlan::Use::again) == 0);
  CHECK(left(2, 64, BatchPlan::Use::again) == 2);
  CHECK(left(2, 64, BatchPlan::Use::once) == 0);
  CHECK(left(3, most, BatchPlan::Use::again) == 3);
  CHECK(left(3, most + 1, BatchPlan::Use::again) == 0);
  CHECK(left(10, 65536, BatchPlan::Use::again) == 0);
  CHECK(left(14, 32768, BatchPlan::Use::again) == 14);
  CHECK(left(14, 32768, BatchPlan::Use::once) == 0);
  CHECK(are_for_kernel(262144, 16, BatchPlan::Use::once));
  CHECK_FALSE(are_for_kernel(262144, 23, BatchPlan::Use::once_to_device));
  CHECK(left(3, 64, BatchPlan::Use::again_to_device) == 0);
  CHECK(left(4, most, BatchPlan::Use::again_to_device) == 4);
  CHECK(left(20, 32768, BatchPlan::Use::again_to_device) == 0);
}

TEST_CASE("a plan of short pieces alone asks nothing of the driver", "[copy_batch]") {
  Memory memory(1 << 20);
  DeviceWork::Stream stream;
  CopyBatch batch;
  add_irregular(memory, batch, 500);
  REQUIRE_FALSE(batch.find_conflict());
  BatchPlan const plan     = batch.plan(0);
  std::size_t const before = FakeCuda::calls("*");
  CHECK(plan.enqueue(stream.get()));
  CHECK(FakeCuda::calls("*") == before);
  CHECK(plan.for_kernel.size() == 500);
}

TEST_CASE("a table of a device is there on return, and goes with its last owner", "[copy_batch]") {
  FakeCuda::reset(2);
  std::vector<int> list(5000);
  std::iota(list.begin(), list.end(), 0);
  std::size_t const bytes = list.size() * sizeof(int);
  auto table              = try_copy_to_device(1, list.data(), bytes);
  REQUIRE(table != nullptr);
  CHECK(Backend::Driver::device_of(table.get()) == 1);
  CHECK(std::equal(list.begin(), list.end(), reinterpret_cast<int const*>(table.get())));
  auto const other = table;
  table.reset();
  CHECK(FakeCuda::outstanding().device_allocations == 1);

  FakeCuda::fail_nth_call("cudaMalloc", 1);
  CHECK(try_copy_to_device(0, list.data(), bytes) == nullptr);
  FakeCuda::fail_nth_call("cudaMemcpyAsync", 1, cudaErrorLaunchFailure);
  CHECK_THROWS_AS(try_copy_to_device(0, list.data(), bytes), KokkosHostSpaces::CudaError);
  CHECK(FakeCuda::outstanding().device_allocations == 1);
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
    Backend::Driver::fence(stream.get());
    REQUIRE(memory.is_copied());
  }
}

}  // namespace CopyBatches
