// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The operations of streamed loops, run in any order that their dependencies allow.

#include "../Rounds.hpp"
#include "StreamCases.hpp"

#include <KokkosHostSpaces/Error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstring>
#include <deque>
#include <functional>

using namespace StreamCases;
using KokkosHostSpaces::Error;

namespace {

/// Keeps operations back, and runs them in random order: each queue in its own, and a wait not
/// before what was recorded.
class Deferring : public StreamExecutor {
 public:
  Deferring(Case& of, std::size_t memory, std::size_t events)
      : device(memory / sizeof(Number), 0x5555555555555555), m_case(of), m_recorded(events) {}

  void copy(StreamQueue queue, void* dst, void const* src, std::size_t bytes) override {
    check_bounds(dst, bytes);
    check_bounds(src, bytes);
    add(queue, [=] { std::memcpy(dst, src, bytes); });
  }
  void launch(StreamLaunch const& launch) override {
    std::size_t const n = m_case.loops[std::size_t(launch.stage)].arguments.size();
    std::vector<char*> const first_rows(launch.first_rows, launch.first_rows + n);
    for (char* const row : first_rows)
      check_bounds(row + launch.begin * m_case.row_bytes(),
                   std::size_t((launch.end - launch.begin) * m_case.row_bytes()));
    add(StreamQueue::work, [this, launch, first_rows] { m_case.run(launch, first_rows); });
  }
  void record(StreamQueue queue, int event) override {
    m_recorded.at(std::size_t(event)) = {queue, of(queue).added};
  }
  void wait(StreamQueue queue, int event) override {
    of(queue).waits.push_back({of(queue).added, m_recorded.at(std::size_t(event))});
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
  Deferring executor(random, plan.memory, std::size_t(plan.events));
  execute(plan, shape, reinterpret_cast<char*>(executor.device.data()), executor);
  executor.run_all();
  return random.arrays() == expected;
}

}  // namespace

TEST_CASE("streamed loops and chains are right in every order that their dependencies allow",
          "[stream_plan]") {
  int wrong = 0;
  for (int seed = 0; seed < rounds(2000); ++seed) {
    Case random(static_cast<unsigned>(seed));
    StreamBinding const bound = bind_stream("test", random.loops);
    StreamPlan const plan     = plan_stream("test", bound.shape, random.wishes);
    bool const right          = is_right(random, plan, bound.shape);
    if (!right) UNSCOPED_INFO("seed " << seed);
    wrong += !right;
  }
  CHECK(wrong == 0);
}

TEST_CASE("stages that write several arrays, in ranges of their own, are right or refused",
          "[stream_plan]") {
  int wrong = 0, refused = 0, late = 0;
  for (int seed = 0; seed < rounds(1000); ++seed) {
    Case random(static_cast<unsigned>(seed), true);
    try {
      StreamBinding const bound = bind_stream("test", random.loops);
      StreamPlan const plan     = plan_stream("test", bound.shape, random.wishes);
      bool const right          = is_right(random, plan, bound.shape);
      if (!right) UNSCOPED_INFO("seed " << seed);
      wrong += !right;
    } catch (KokkosHostSpaces::Error const& error) {
      ++refused;
      // Rows of intermediate arrays that nobody writes: no transport can go on, planned or not.
      late += std::string(error.what()).find("of \"made by") != std::string::npos;
    }
  }
  CHECK(wrong == 0);
  CHECK(late == 0);
  CHECK(refused < rounds(1000) / 2);
}

TEST_CASE("leaving out any kind of dependency is noticed", "[stream_plan]") {
  for (StreamAction const action :
       {StreamAction::load, StreamAction::launch, StreamAction::store}) {
    for (std::size_t const which : {0U, 1U}) {
      if (action == StreamAction::store && which == 1) continue;
      int wrong = 0;
      for (int seed = 0; seed < 600 && wrong == 0; ++seed) {
        Case random(static_cast<unsigned>(seed));
        StreamBinding const bound = bind_stream("test", random.loops);
        StreamPlan plan           = plan_stream("test", bound.shape, random.wishes);
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

TEST_CASE("blocks on the host lie where elements of any alignment may", "[stream_plan]") {
  int wrong = 0;
  for (int seed = 0; seed < 100; ++seed) {
    Case random(static_cast<unsigned>(seed));
    StreamBinding const bound = bind_stream("test", random.loops);
    StreamPlan plan           = plan_stream("test", bound.shape, random.wishes);
    std::fill(plan.origins.begin(), plan.origins.end(), 0);
    execute_on_host(plan, bound.shape, [&](StreamLaunch const& launch) {
      wrong += reinterpret_cast<std::uintptr_t>(launch.first_rows[0]) % 512 != 0;
    });
  }
  CHECK(wrong == 0);
}

TEST_CASE("run one by one on the host, and in place, they are right as well", "[stream_plan]") {
  int wrong = 0, in_place = 0;
  for (int seed = 0; seed < rounds(2000); ++seed) {
    Case random(static_cast<unsigned>(seed));
    auto const expected       = random.expected();
    StreamBinding const bound = bind_stream("test", random.loops);
    auto const launcher       = [&](StreamLaunch const& launch) {
      std::size_t const n = random.loops[std::size_t(launch.stage)].arguments.size();
      random.run(launch, std::vector<char*>(launch.first_rows, launch.first_rows + n));
    };
    if (bound.in_place || seed % 2 == 0) {
      execute_on_host(plan_stream("test", bound.shape, random.wishes), bound.shape, launcher);
    } else {
      ++in_place;
      std::vector<Array> memory(bound.shape.buffers.size(), Array(random.arrays()[0].size()));
      std::vector<char*> homes;
      for (std::size_t b = 0; b < memory.size(); ++b) {
        char* const host = bound.shape.buffers[b].host;
        homes.push_back(host != nullptr ? host : reinterpret_cast<char*>(memory[b].data()));
      }
      for (std::size_t s = 0; s < bound.shape.stages.size(); ++s) {
        StreamStage const& stage = bound.shape.stages[s];
        execute_in_place(bound.shape, int(s), {stage.begin, stage.end}, homes, 3, launcher);
      }
    }
    wrong += random.arrays() != expected;
  }
  CHECK(wrong == 0);
  CHECK(in_place > rounds(2000) / 10);
}
