// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What streamed loops share, used by several threads at the same time, on a made-up CUDA runtime. ThreadSanitizer
// notices each lock that is left out.

#include "StreamJobs.hpp"

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>

#include <atomic>
#include <cstring>
#include <latch>
#include <thread>

#include <catch2/catch_test_macros.hpp>

using namespace StreamCases;
using KokkosHostSpaces::Impl::DeviceCopies;

TEST_CASE("threads take, give back and drop memory of streamed loops at the same time") {
  FakeCuda::reset();
  constexpr int threads      = 4;
  constexpr std::size_t unit = 4096;
  std::atomic<int> wrong     = 0;
  {
    StreamResourcePool lanes(allocate, threads * unit);
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
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
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

TEST_CASE("whether a loop is done is told at once, also while another thread waits for its end") {
  FakeCuda::reset();
  {
    OneArray one({0});
    StreamResourcePool lanes(allocate, std::size_t(1) << 30);
    DeviceWork::Gate gate;
    one.streams[0]->run(gate.hold());
    auto const loop            = run_stream(one.job, lanes);
    std::size_t const before   = FakeCuda::calls("cuEventSynchronize");
    std::jthread const waiting = std::jthread([&] { loop->fence(); });
    while (FakeCuda::calls("cuEventSynchronize") == before) std::this_thread::yield();
    CHECK_FALSE(loop->is_done());
    gate.open();
    loop->fence();
    CHECK(loop->is_done());
  }
  CHECK(nothing_is_left());
}

TEST_CASE("threads that use a resident View at the same time share one copy on each device") {
  FakeCuda::reset(2);
  std::atomic<int> allocations = 0, wrong = 0;
  {
    std::vector<int> const table(1000, 7);
    DeviceCopies copies([&](int device, std::size_t bytes) {
      ++allocations;
      return allocate(device, bytes);
    });
    for (int round = 1; round <= 20; ++round) {
      auto const streams = streams_on(2);
      std::latch start(4);
      std::vector<std::jthread> team;
      for (int thread = 0; thread < 4; ++thread) {
        team.emplace_back([&, thread] {
          int const device = thread % 2;
          start.arrive_and_wait();
          void const* const copy = copies.on_device(device, streams[std::size_t(device)]->get(),
                                                    table.data(), 1000 * sizeof(int));
          wrong += std::memcmp(copy, table.data(), 1000 * sizeof(int)) != 0;
        });
      }
      team.clear();
      wrong += allocations != 2 * round;
      copies.forget();
    }
  }
  CHECK(wrong == 0);
  CHECK(nothing_is_left());
}

TEST_CASE("threads ask for a copy on the device while another one has it forgotten") {
  FakeCuda::reset();
  {
    std::vector<int> const table(1000, 7);
    DeviceWork::Stream stream;
    DeviceCopies copies(allocate);
    std::latch start(3);
    std::vector<std::jthread> team;
    for (int thread = 0; thread < 3; ++thread) {
      team.emplace_back([&, thread] {
        start.arrive_and_wait();
        for (int round = 0; round < 50; ++round)
          thread == 0 ? copies.forget()
                      : void(copies.on_device(0, stream.get(), table.data(), 1000 * sizeof(int)));
      });
    }
  }
  CHECK(nothing_is_left());
}

TEST_CASE("threads run loops on one instance, on their own, and on several devices at once") {
  FakeCuda::reset(2);
  std::atomic<int> wrong = 0;
  {
    StreamResourcePool lanes(allocate, 4096);  // some of the loops have to wait for memory
    auto const shared = streams_on(2);
    std::latch start(4);
    std::vector<std::jthread> team;
    for (int thread = 0; thread < 4; ++thread) {
      team.emplace_back([&, thread] {
        DeviceWork::require(cudaSetDevice(0), "cudaSetDevice");
        DeviceWork::Stream own;
        Streams const sets[] = {pointers(shared), {shared[0].get()}, {&own}, {shared[0].get()}};
        start.arrive_and_wait();
        for (int seed = thread; seed < rounds(160) / 4; seed += 4) {
          Case random(static_cast<unsigned>(seed));
          Locked const locked(random);
          auto const expected = random.expected();
          run_stream(job_of(random, sets[thread]), lanes)->fence();
          wrong += random.arrays() != expected;
          if (seed % 3 == 0) lanes.release();
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(nothing_is_left());
}
