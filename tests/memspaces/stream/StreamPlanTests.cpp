// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Plans of streamed loops: their operations run in any order that their dependencies allow give the
// results of a loop on the host, copy the bytes that the arguments imply, and fit the memory.

#include "../Rounds.hpp"
#include "StreamCases.hpp"
#include "../../support/Tests.hpp"

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <deque>

namespace StreamPlanTests {

using namespace StreamCases;
using KokkosHostSpaces::Error;

namespace {

constexpr std::size_t KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30;
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max() / 2;

/// Defers operations and runs them in random order: each queue in its own order, and a wait not
/// before the operations that the event recorded.
class Deferring : public StreamExecutor {
 public:
  Deferring(Case& of, StreamPlan const& plan)
      : device(plan.memory / sizeof(Number), 0x5555555555555555),
        m_case(of),
        m_recorded(at(plan.events)) {}

  void copy(StreamQueue queue, void* dst, void const* src, std::size_t bytes) override {
    check_bounds(dst, bytes);
    check_bounds(src, bytes);
    auto const *const to = static_cast<char*>(dst), *const from = static_cast<char const*>(src);
    REQUIRE((to + bytes <= from || from + bytes <= to));
    add(queue, [=] { std::memcpy(dst, src, bytes); });
  }
  void launch(StreamLaunch const& launch) override {
    std::size_t const n = m_case.loops[at(launch.stage)].arguments.size();
    std::vector<char*> const first_rows(launch.first_rows, launch.first_rows + n);
    for (char* const row : first_rows)
      check_bounds(row + launch.begin * m_case.row_bytes(),
                   std::size_t((launch.end - launch.begin) * m_case.row_bytes()));
    add(StreamQueue::work, [this, launch, first_rows] { m_case.run(launch, first_rows); });
  }
  void record(StreamQueue queue, int event) override {
    m_recorded.at(at(event)) = {queue, of(queue).added};
  }
  void wait(StreamQueue queue, int event) override {
    of(queue).waits.push_back({of(queue).added, m_recorded.at(at(event))});
  }

  void run_all() {
    while (run_one()) {
    }
    for (Queue const& queue : m_queues) REQUIRE(queue.tasks.empty());
  }

  Array device;

 private:
  struct Recorded {
    StreamQueue queue = StreamQueue::in;
    std::size_t done  = 0;
  };
  struct Wait {
    std::size_t before;
    Recorded recorded;
  };
  struct Queue {
    std::deque<std::function<void()>> tasks;
    std::size_t added = 0, done = 0;
    std::vector<Wait> waits;
  };

  Queue& of(StreamQueue queue) { return m_queues[std::size_t(queue)]; }

  void add(StreamQueue queue, std::function<void()> task) {
    of(queue).tasks.push_back(std::move(task));
    ++of(queue).added;
    while (m_case.pick(0, 3) == 0 && run_one()) {
    }
  }

  bool is_ready(Queue const& queue) {
    if (queue.tasks.empty()) return false;
    return std::all_of(queue.waits.begin(), queue.waits.end(), [&](Wait const& wait) {
      return wait.before > queue.done || of(wait.recorded.queue).done >= wait.recorded.done;
    });
  }

  bool run_one() {
    std::vector<Queue*> ready;
    for (Queue& queue : m_queues)
      if (is_ready(queue)) ready.push_back(&queue);
    if (ready.empty()) return false;
    Queue& queue = *ready[std::size_t(m_case.pick(0, std::int64_t(ready.size()) - 1))];
    queue.tasks.front()();
    queue.tasks.pop_front();
    ++queue.done;
    return true;
  }

  void check_bounds(void const* pointer, std::size_t bytes) const {
    auto const within = [&](Array const& memory) {
      auto const* const begin = reinterpret_cast<char const*>(memory.data());
      auto const* const p     = static_cast<char const*>(pointer);
      return p >= begin && p + bytes <= begin + memory.size() * sizeof(Number);
    };
    bool good = within(device);
    for (Array const& array : m_case.arrays()) good |= within(array);
    REQUIRE(good);
  }

  Case& m_case;
  Queue m_queues[3];
  std::vector<Recorded> m_recorded;
};

bool is_right(Case& random, StreamPlan const& plan, StreamShape const& shape) {
  auto const expected = random.expected();
  Deferring executor(random, plan);
  StreamWalk walk(plan, shape, reinterpret_cast<char*>(executor.device.data()), executor);
  while (walk.next_chunk()) {
  }
  executor.run_all();
  return random.arrays() == expected;
}

// The bytes from the first to the last row of a buffer that stages read, or write.
std::size_t bytes_used(StreamShape const& shape, int number, bool written) {
  StreamBuffer const& buffer = shape.buffers[at(number)];
  StreamRows rows{buffer.rows, 0};
  for (StreamStage const& stage : shape.stages)
    for (StreamAccess const& access : stage.accesses) {
      if (access.buffer != number || (written && !access.writes) || stage.begin >= stage.end)
        continue;
      rows.begin = std::min(rows.begin, stage.begin - access.halo);
      rows.end   = std::max(rows.end, stage.end + access.halo);
    }
  rows = {std::max<std::int64_t>(rows.begin, 0), std::min(rows.end, buffer.rows)};
  return buffer.fixed ? 0 : std::size_t(rows.count()) * buffer.row_bytes;
}

// Counts the bytes of all copies. Fails unless each row of a buffer is loaded once, in order, and
// the bytes are those of the rows that stages read and write.
Bytes copied(StreamPlan const& plan, StreamShape const& shape) {
  Bytes bytes;
  std::vector<std::optional<std::size_t>> loaded(shape.buffers.size());
  for (StreamOperation const& operation : plan.operations)
    for (std::size_t p = operation.first_piece; p < operation.last_piece; ++p) {
      StreamPiece const& piece = plan.pieces[p];
      if (operation.action == StreamAction::store) bytes.to_host += piece.bytes;
      if (operation.action != StreamAction::load) continue;
      bytes.to_device += piece.bytes;
      auto& before = loaded[at(piece.buffer)];
      REQUIRE(before.value_or(piece.from) == piece.from);
      before = piece.from + piece.bytes;
    }
  REQUIRE(bytes == Bytes{plan.bytes_to_device, plan.bytes_to_host});
  Bytes used;
  for (std::size_t b = 0; b < shape.buffers.size(); ++b) {
    if (shape.buffers[b].loaded) used.to_device += bytes_used(shape, int(b), false);
    if (shape.buffers[b].stored) used.to_host += bytes_used(shape, int(b), true);
  }
  bool const is_part = shape.own.begin > 0 || shape.own.end < shape.stages.back().end;
  if (!is_part) REQUIRE(bytes == used);
  return bytes;
}

// A loop, or steps of a stencil, of arrays that are as large as real ones: only for plans.
StreamShape shape_of(std::int64_t rows, std::size_t row_bytes, int steps = 1,
                     std::int64_t halo = 0) {
  StreamShape shape;
  shape.buffers.push_back({.name = "u", .row_bytes = row_bytes, .rows = rows, .loaded = true});
  for (int q = 0; q < steps; ++q) {
    shape.buffers.push_back(
        {.name = "t", .row_bytes = row_bytes, .rows = rows, .stored = q + 1 == steps});
    shape.stages.push_back({0, rows, {{q, halo, false}, {q + 1, 0, true}}});
  }
  return shape;
}

}  // namespace

TEST_CASE(
    "streamed loops and chains equal loops on the host in every legal order, or are refused") {
  int wrong = 0, refused = 0, late = 0, loops = 0;
  for (int seed = 0; seed < rounds(3000); ++seed) {
    Case random(static_cast<unsigned>(seed), seed % 3 == 0);
    CAPTURE(seed);
    try {
      StreamBinding const bound = bind_stream("test", random.loops);
      StreamPlan const plan     = plan_stream("test", bound.shape, random.options);
      Bytes const bytes         = copied(plan, bound.shape);
      if (random.loops.size() == 1) {
        ++loops;
        REQUIRE(bytes ==
                random.implied({random.loops.front().lower[0], random.loops.front().upper[0]}));
      }
      REQUIRE(plan.memory <= random.options.memory);
      bool const right = is_right(random, plan, bound.shape);
      if (!right) UNSCOPED_INFO("seed " << seed);
      wrong += !right;
    } catch (Error const& error) {
      ++refused;
      // Intermediate arrays that lack rows are refused by bind_stream, before a transport is
      // chosen.
      late += std::string(error.what()).find("of \"made by") != std::string::npos;
    }
  }
  CHECK(wrong == 0);
  CHECK(late == 0);
  CHECK(refused < rounds(3000) / 6);
  CHECK(loops > rounds(3000) / 4);
}

TEST_CASE("leaving out any kind of dependency is noticed") {
  for (StreamAction const action :
       {StreamAction::load, StreamAction::launch, StreamAction::store}) {
    for (std::size_t const which : {0U, 1U}) {
      if (action == StreamAction::store && which == 1) continue;
      int wrong = 0;
      for (int seed = 0; seed < 600 && wrong == 0; ++seed) {
        Case random(static_cast<unsigned>(seed));
        StreamBinding const bound = bind_stream("test", random.loops);
        StreamPlan plan           = plan_stream("test", bound.shape, random.options);
        for (StreamOperation& operation : plan.operations)
          if (operation.action == action ||
              (action == StreamAction::launch && operation.queue() == StreamQueue::work))
            operation.after[which] = -1;
        wrong += !is_right(random, plan, bound.shape);
      }
      CAPTURE(int(action), which);
      CHECK(wrong > 0);
    }
  }
}

TEST_CASE("chunks are neither so many nor so few that the pipeline suffers") {
  auto const plan = [](std::size_t bytes, std::size_t row_bytes) {
    return plan_stream("test", shape_of(std::int64_t(bytes / row_bytes), row_bytes),
                       {.memory = unlimited});
  };
  for (std::size_t const row_bytes : {std::size_t(8), KiB, 512 * KiB}) {
    CHECK(plan(MiB, row_bytes).chunks == 1);
    CHECK(plan(64 * MiB, row_bytes).chunks >= 16);
    CHECK(plan(GiB, row_bytes).chunks <= 64 + 8);
    CHECK(plan(64 * GiB, row_bytes).chunks <= 256 + 8);  // CUDA's queues hold about 250
  }
  CHECK(plan(256 * MiB, 16 * MiB).chunk_rows == 1);
}

TEST_CASE("the last chunk is not much smaller than the first one") {
  for (std::int64_t rows = 20000; rows < 30000; rows += 37) {
    StreamPlan const plan = plan_stream("test", shape_of(rows, 4096), {.memory = unlimited});
    CAPTURE(rows);
    CHECK(plan.chunks > 10);
    CHECK(2 * plan.pieces.back().bytes >= plan.pieces.front().bytes);
  }
}

TEST_CASE("a chain whose memory is short has chunks of half the rows of a single loop at least") {
  for (auto const& [bytes, row_bytes] :
       {std::pair(64 * MiB, 128 * KiB), std::pair(256 * MiB, 2 * MiB)}) {
    auto const rows_of = [bytes = bytes, row_bytes = row_bytes](int steps) {
      std::int64_t const n(bytes / row_bytes);
      return plan_stream("test", shape_of(n, row_bytes, steps, 1), {.memory = bytes / 2})
          .chunk_rows;
    };
    CHECK(2 * rows_of(8) >= rows_of(1));
  }
}

TEST_CASE("chunks that the library chooses begin at pages of the host") {
  for (auto const& [row_bytes, memory] :
       {std::pair(std::size_t(8), unlimited), std::pair(std::size_t(8), 50 * MiB),
        std::pair(std::size_t(24), unlimited), std::pair(std::size_t(8000), 50 * MiB)})
    for (std::int64_t const begin : {0, 1, 12345}) {
      StreamShape shape     = shape_of(std::int64_t(3 * GiB / row_bytes), row_bytes);
      shape.stages[0].begin = begin;
      StreamPlan const plan = plan_stream("test", shape, {.memory = memory});
      std::size_t elsewhere = 0;
      for (StreamPiece const& piece : plan.pieces)
        elsewhere += (piece.buffer == 0 ? piece.from : piece.to) % 4096 > 0;
      CAPTURE(row_bytes, memory, begin, plan.chunk_rows);
      CHECK(plan.chunks > 30);
      CHECK(elsewhere <= 2);  // the first chunk, both ways
    }
}

TEST_CASE("a loop over no rows takes no memory, and memory beyond size_t is refused") {
  StreamShape empty     = shape_of(1000, GiB, 1, 5);
  empty.stages[0].begin = empty.stages[0].end = 500;
  for (std::int64_t const asked : {0, 7}) {
    StreamPlan const plan = plan_stream("test", empty, {.chunk_rows = asked, .memory = 1});
    CHECK(plan.chunks == 0);
    CHECK(plan.memory == 0);
  }
  CHECK_THROWS_AS(plan_stream("test", shape_of(1 << 24, KiB),
                              {.chunk_rows = 1 << 24, .slots = 1 << 30, .memory = GiB}),
                  Error);
  CHECK_THROWS_AS(plan_stream("test", shape_of(9, std::size_t(1) << 62), {.memory = GiB}), Error);
}

}  // namespace StreamPlanTests
