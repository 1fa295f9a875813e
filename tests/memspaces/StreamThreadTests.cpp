// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What streamed loops share, used by several threads at the same time, on a made-up CUDA runtime. ThreadSanitizer
// notices each lock that is left out.

#include "StreamJobs.hpp"

#include <atomic>
#include <cstring>
#include <latch>
#include <thread>

#include <catch2/catch_test_macros.hpp>

using namespace StreamCases;

TEST_CASE("threads take, give back and drop memory of streamed loops at the same time") {
  FakeCuda::reset();
  constexpr int threads      = 4;
  constexpr std::size_t unit = 4096;
  std::atomic<int> wrong     = 0;
  {
    StreamLanes lanes(allocate, threads * unit);
    std::latch start(threads);
    std::vector<std::jthread> team;
    for (int thread = 0; thread < threads; ++thread) {
      team.emplace_back([&, thread] {
        start.arrive_and_wait();
        for (int round = 0; round < 100; ++round) {
          auto const lane = lanes.take(0, unit);
          std::memset(lane->memory.get(), thread, unit);  // nobody else has it
          wrong += lanes.held() > threads * unit;
          wrong += lane->memory.get()[unit - 1] != char(thread);
          if (round % 3 == thread % 3)
            lanes.drop(lane);
          else
            lanes.put_back(lane);
          if (round % 5 == thread) lanes.release();
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(nothing_is_left());
}

TEST_CASE("several threads ask for the end of a streamed loop, and it is finished once") {
  FakeCuda::reset();
  int finished = 0;
  {
    StreamLanes lanes(allocate, std::size_t(1) << 30);
    Case random(1);
    Locked const locked(random);
    DeviceWork::Stream stream;
    auto const expected = random.expected();
    auto const loop     = run_stream(job_of(random, {&stream}), lanes);
    loop->finish        = [&] { ++finished; };
    {
      std::vector<std::jthread> team;
      std::latch ended(4);
      for (int thread = 0; thread < 4; ++thread) {
        team.emplace_back([&] {
          while (!loop->is_done()) std::this_thread::yield();
          ended.arrive_and_wait();
          loop->fence();
        });
      }
    }
    CHECK(random.arrays() == expected);
  }
  CHECK(finished == 1);
  CHECK(nothing_is_left());
}
