// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How many rows chunks have: of arrays as large as real ones, for which only plans are made.

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/stream/plan/DevicePartition.hpp>
#include <KokkosHostSpaces/impl/stream/plan/ChunkSizing.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace ChunkSizingTests {

using namespace KokkosHostSpaces::Impl;
using KokkosHostSpaces::Error;

namespace {

constexpr std::size_t KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30;
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max() / 2;
std::string const label         = "test";

// A loop over all rows of one array that it reads, and one that it writes.
StreamShape loop(std::int64_t rows, std::size_t row_bytes, bool loads, bool stores,
                 std::int64_t halo = 0) {
  StreamShape shape;
  StreamStage stage{0, rows, {}};
  if (loads) {
    stage.accesses.push_back({int(shape.buffers.size()), halo, false});
    shape.buffers.push_back({.name = "u", .row_bytes = row_bytes, .rows = rows, .loaded = true});
  }
  if (stores) {
    stage.accesses.push_back({int(shape.buffers.size()), 0, true});
    shape.buffers.push_back({.name = "v", .row_bytes = row_bytes, .rows = rows, .stored = true});
  }
  shape.stages = {stage};
  return shape;
}

// Steps of a stencil, from one array to another.
StreamShape steps(int count, std::int64_t rows, std::size_t row_bytes, std::int64_t halo = 1) {
  StreamShape shape;
  shape.buffers.push_back({.name = "u", .row_bytes = row_bytes, .rows = rows, .loaded = true});
  for (int q = 0; q < count; ++q) {
    shape.buffers.push_back(
        {.name = "t", .row_bytes = row_bytes, .rows = rows, .stored = q + 1 == count});
    shape.stages.push_back({0, rows, {{q, halo, false}, {q + 1, 0, true}}});
  }
  return shape;
}

// Of the largest array.
std::size_t chunk_bytes(StreamShape const& shape, std::size_t memory = unlimited) {
  StreamPlan const plan = plan_stream(label, shape, {.memory = memory});
  std::size_t row       = 0;
  for (StreamBuffer const& buffer : shape.buffers) row = std::max(row, buffer.row_bytes);
  return std::size_t(plan.chunk_rows) * row;
}

}  // namespace

TEST_CASE("chunks grow as the root of what is streamed, and are smaller where it goes both ways",
          "[stream_sizes]") {
  auto const chunk = [](std::size_t bytes, bool loads, bool stores) {
    return chunk_bytes(loop(std::int64_t(bytes / KiB), KiB, loads, stores));
  };
  CHECK(chunk(GiB, true, true) == 16 * MiB);
  CHECK(chunk(64 * MiB, true, true) == 4 * MiB);
  CHECK(chunk(8 * GiB, true, true) == 32 * MiB);
  for (bool const loads : {true, false}) {
    CHECK(chunk(512 * MiB, loads, !loads) == 16 * MiB);
    CHECK(chunk(32 * MiB, loads, !loads) == 4 * MiB);
    CHECK(chunk(8 * GiB, loads, !loads) == 32 * MiB);
  }
  CHECK(chunk_bytes(loop(100, 3 * MiB, true, true)) == 9 * MiB);  // whole rows
  // Each loop of a chain has a launch to begin.
  CHECK(chunk_bytes(steps(4, 1 << 18, KiB)) == 16 * MiB);
}

TEST_CASE("small arrays are few chunks, and large ones not too many", "[stream_sizes]") {
  for (bool const stores : {true, false}) {
    auto const plan = [&](std::size_t bytes, std::size_t row_bytes) {
      return plan_stream(label, loop(std::int64_t(bytes / row_bytes), row_bytes, true, stores),
                         {.memory = unlimited});
    };
    for (std::size_t row_bytes : {std::size_t(8), KiB, 512 * KiB}) {
      CHECK(plan(MiB, row_bytes).chunks == 1);
      CHECK(plan(2 * MiB, row_bytes).chunks <= 2);
      CHECK(plan(64 * GiB, row_bytes).chunks <= 256 + 6);
      CHECK(plan(64 * GiB, row_bytes).chunks >= 256);
    }
    CHECK(plan(8, 8).chunks == 1);
    CHECK(plan(256 * MiB, 16 * MiB).chunk_rows == 1);
  }
}

TEST_CASE("the queues of CUDA hold about all operations of a loop, whatever its chunks have",
          "[stream_sizes]") {
  StreamShape triad = loop(1 << 23, KiB, true, true);
  triad.stages[0].accesses.push_back({2, 0, false});
  triad.buffers.push_back(triad.buffers[0]);
  StreamShape many = triad;
  for (int b = 3; b < 12; ++b) {
    many.stages[0].accesses.push_back({b, 0, false});
    many.buffers.push_back(many.buffers[0]);
  }
  for (StreamShape const& shape : {triad, many, loop(1 << 23, KiB, true, true, 2),
                                   steps(2, 1 << 23, KiB), steps(8, 1 << 23, KiB)}) {
    StreamPlan const plan = plan_stream(label, shape, {.memory = unlimited});
    std::map<StreamQueue, std::size_t> enqueued;
    for (StreamOperation const& operation : plan.operations) {
      std::size_t& all = enqueued[operation.queue()];
      for (int const before : operation.after) all += before >= 0;
      all += operation.action == StreamAction::launch
                 ? 1
                 : operation.last_piece - operation.first_piece;
      all += operation.event >= 0;
    }
    for (auto const& [queue, all] : enqueued) {
      CAPTURE(shape.buffers.size(), int(queue));
      CHECK(all <= 1024 + 1024 / 10);
    }
  }
}

TEST_CASE("the largest array decides, but none that is on the device already", "[stream_sizes]") {
  StreamShape shape          = loop(1 << 20, KiB, true, true);
  shape.buffers[0].row_bytes = 8;
  CHECK(chunk_bytes(shape) == 16 * MiB);
  std::swap(shape.buffers[0].row_bytes, shape.buffers[1].row_bytes);
  shape.buffers.push_back({.name = "table", .row_bytes = GiB, .rows = 1, .fixed = true});
  shape.stages[0].accesses.push_back({2, 0, false});
  CHECK(plan_stream(label, shape, {.memory = unlimited}).chunk_rows == std::int64_t(16 * KiB));
}

TEST_CASE("the first chunks and the last are smaller, unless their size was given",
          "[stream_sizes]") {
  for (std::int64_t const asked : {0, 16 << 10}) {
    StreamPlan const plan = plan_stream(label, loop(1 << 20, KiB, true, true),
                                        {.chunk_rows = asked, .memory = unlimited});
    std::vector<std::int64_t> rows;
    for (StreamOperation const& operation : plan.operations)
      if (operation.action == StreamAction::launch) rows.push_back(operation.end - operation.begin);
    CHECK(rows[1] == (asked > 0 ? 16 << 10 : 4 << 10));
    CHECK(rows.front() == (asked > 0 ? 16 << 10 : 2 << 10));
    CHECK(rows.back() == rows.front());
  }
}

// Copies both ways at once are slower if they begin elsewhere.
TEST_CASE("chunks of large arrays begin at whole pages, but for the last, smaller ones",
          "[stream_sizes]") {
  for (std::size_t const row_bytes : {4, 8, 24, 4096})
    for (std::size_t const bytes : {64 * MiB, GiB, 3 * GiB + 12345 * KiB}) {
      std::int64_t const rows = std::int64_t(bytes / row_bytes) + 7;
      StreamPlan const plan =
          plan_stream(label, loop(rows, row_bytes, true, true), {.memory = unlimited});
      std::vector<StreamOperation> launches;
      for (StreamOperation const& operation : plan.operations)
        if (operation.action == StreamAction::launch) launches.push_back(operation);
      CAPTURE(row_bytes, bytes);
      REQUIRE(launches.size() > 8);
      std::int64_t done = 0;
      for (std::size_t c = 0; c < launches.size(); ++c) {
        std::int64_t const begin = launches[c].begin, end = launches[c].end;
        CHECK(begin == done);
        CHECK(end - begin <= plan.chunk_rows);
        if (c + 3 < launches.size()) CHECK(std::size_t(begin) * row_bytes % 4096 == 0);
        if (c > 2 && c + 4 < launches.size()) CHECK(end - begin >= plan.chunk_rows / 2);
        done = end;
      }
      CHECK(done == rows);
    }
}

// As a part of a range on one of several devices may, or a loop without the border.
TEST_CASE("chunks begin at whole pages wherever the range begins and however small the memory is",
          "[stream_sizes]") {
  for (std::int64_t const begin : {0, 1, 511, 512, 12345})
    for (std::size_t const memory : {50 * MiB, 100 * MiB + 12345, unlimited}) {
      StreamShape shape          = loop(1 << 27, 8, true, true);
      shape.stages.front().begin = begin;
      StreamPlan const plan      = plan_stream(label, shape, {.memory = memory});
      std::size_t elsewhere      = 0;
      for (StreamPiece const& piece : plan.pieces)
        elsewhere += (piece.buffer == 0 ? piece.from : piece.to) % 4096 > 0;
      CAPTURE(begin, memory, plan.chunk_rows);
      CHECK(plan.memory <= memory);
      CHECK(plan.pieces.size() > 100);
      CHECK(elsewhere <= 2 * 4);  // the first chunk and the last, smaller ones
    }
}

// Of 80000 bytes 32 rows are whole pages, of 8008 bytes 512 are: 4 MB.
TEST_CASE("chunks of long rows begin at whole pages if they have eight times so many rows",
          "[stream_sizes]") {
  for (auto const& [row_bytes, memory] :
       {std::pair(std::size_t(1000), 50 * MiB), std::pair(std::size_t(8000), 50 * MiB),
        std::pair(std::size_t(8008), 512 * MiB), std::pair(std::size_t(12000), 512 * MiB),
        std::pair(std::size_t(80000), 512 * MiB)})
    for (std::int64_t const begin : {0, 1, 777}) {
      StreamShape shape          = loop(std::int64_t(8 * GiB / row_bytes), row_bytes, true, true);
      shape.stages.front().begin = begin;
      StreamPlan const plan      = plan_stream(label, shape, {.memory = memory});
      std::size_t elsewhere      = 0;
      for (StreamPiece const& piece : plan.pieces)
        elsewhere += (piece.buffer == 0 ? piece.from : piece.to) % 4096 > 0;
      CAPTURE(row_bytes, memory, begin, plan.chunk_rows);
      CHECK(plan.memory <= memory);
      CHECK(plan.chunks > 200);
      CHECK(std::size_t(plan.chunk_rows) * row_bytes >= std::min(memory / 6, 32 * MiB) / 8 * 7);
      CHECK(elsewhere <= 2 * 6);  // the first chunk and the last, smaller ones
    }
}

TEST_CASE("a part of an array is cut as an array of that size is", "[stream_sizes]") {
  StreamShape const whole = loop(1 << 16, KiB, true, true);
  StreamShape part        = loop(1 << 24, KiB, true, true);
  part.stages[0].begin    = 1 << 23;
  part.stages[0].end      = (1 << 23) + (1 << 16);
  CHECK(chunk_bytes(part) == chunk_bytes(whole));
  // As parts of a range on several devices are.
  for (StreamShape const& shared : split_stream(loop(1 << 18, KiB, true, true), {1, 1, 1, 1}))
    CHECK(chunk_bytes(shared) == chunk_bytes(whole));
}

TEST_CASE("a loop over no rows takes no memory, and no limit is too small for it",
          "[stream_sizes]") {
  StreamShape empty     = loop(1000, GiB, true, true, 5);
  empty.stages[0].begin = empty.stages[0].end = 500;
  for (std::int64_t const asked : {0, 7}) {
    StreamPlan const plan = plan_stream(label, empty, {.chunk_rows = asked, .memory = 1});
    CHECK(plan.chunks == 0);
    CHECK(plan.memory == 0);
  }
}

TEST_CASE("more memory than can be counted is not taken for little", "[stream_sizes]") {
  constexpr std::size_t row = std::size_t(1) << 62;
  for (auto const& [shape, wishes] :
       {std::pair(loop(1 << 24, KiB, true, false),
                  PlanOptions{.chunk_rows = 1 << 24, .slots = 1 << 30, .memory = GiB}),
        std::pair(loop(9, row, true, true), PlanOptions{.slots = 2, .memory = GiB}),
        std::pair(loop(8, row, true, false, 4), PlanOptions{.memory = GiB})})
    CHECK_THROWS_AS(plan_stream(label, shape, wishes), Error);
}

TEST_CASE("a larger chunk is taken if it fits, and a smaller one does not", "[stream_sizes]") {
  // The second stage reads what the first one makes, of which there are two windows in chunks of
  // less than four halos, and one in others.
  auto const rows = [](std::int64_t all, std::int64_t halo, std::size_t memory) {
    StreamShape shape                = steps(2, all, 8, halo);
    shape.stages[0].accesses[0].halo = 0;
    shape.buffers[1].row_bytes       = MiB;
    return plan_stream(label, shape, {.memory = memory * MiB + 64 * KiB}).chunk_rows;
  };
  CHECK(rows(1000, 1, 6) == 4);
  CHECK(rows(1000, 1, 7) == 5);
  CHECK(rows(9, 3, 10) == 12);
}

}  // namespace ChunkSizingTests
