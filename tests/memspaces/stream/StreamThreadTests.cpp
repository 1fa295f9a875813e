// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops of several threads at the same time, on the fake CUDA runtime. ThreadSanitizer notices
// each lock that is left out.

#include "StreamJobs.hpp"

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>

#include <latch>

using namespace StreamCases;
using KokkosHostSpaces::Impl::DeviceCopies;

TEST_CASE("threads that enqueue at once share the memory of streamed loops, and take no more") {
  FakeCuda::reset();
  constexpr std::size_t unit = 1 << 20;
  StreamResourcePool pool(allocate, 4 * unit);
  auto const first         = pool.take(0, 4 * unit);
  std::atomic<pid_t> taker = 0;
  auto second              = std::async(std::launch::async, [&] {
    taker = gettid();
    return pool.take(0, 3 * unit);
  });
  while (taker == 0) std::this_thread::yield();
  wait_until_asleep(taker);
  CHECK(pool.held() == 4 * unit);
  pool.put_back(first);
  CHECK(second.get() == first);  // waited for, instead of more memory
  CHECK(pool.held() == 4 * unit);
}

TEST_CASE("a loop that would wait for another one of its own thread is refused") {
  FakeDevices const devices;
  OneArray outer({0}), inner({0});
  StreamResourcePool pool(allocate, 1);
  outer.job.launch = [&](std::size_t, auto const&) { run_stream(inner.job, pool); };
  CHECK_THROWS_WITH(run_stream(outer.job, pool), ContainsSubstring("wait for itself"));
  run_stream(inner.job, pool)->fence();
  pool.put_back(pool.take(0, 512));
}

TEST_CASE("a thread that waits for one device does not hold up threads of others") {
  FakeDevices const devices(2);
  OneArray one({0});
  StreamResourcePool pool(allocate, 1);
  DeviceWork::Gate gate;
  one.streams[0]->run(gate.hold());
  auto const loop          = run_stream(one.job, pool);
  std::size_t const before = FakeCuda::calls("cuEventSynchronize");
  auto waits = std::async(std::launch::async, [&] { return pool.take(0, std::size_t(1) << 20); });
  while (FakeCuda::calls("cuEventSynchronize") == before) std::this_thread::yield();
  auto goes_on = std::async(std::launch::async, [&] { return pool.take(1, 512); });
  CHECK(goes_on.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  CHECK(waits.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  gate.open();
  pool.put_back(waits.get());
  pool.put_back(goes_on.get());
}

TEST_CASE(
    "a resident copy that waits for a stream holds up no thread with another one, or device") {
  FakeDevices const devices(2);
  int const device = GENERATE(0, 1);
  std::vector<int> table(1000, 7);
  // The call itself waits for pageable memory.
  if (device == 0) Backend::Driver::lock_pages(table.data(), 4000);
  {
    DeviceCopies copies(allocate);
    DeviceWork::Stream first;
    auto const others      = streams_on(2);
    DeviceWork::Stream& on = *others[std::size_t(device)];
    DeviceWork::Gate gate;
    first.run(gate.hold());
    auto waits = std::async(std::launch::async,
                            [&] { return copies.on_device(0, first.get(), table.data(), 4000); });
    while (FakeCuda::calls("cudaMemcpyAsync") == 0) std::this_thread::yield();
    auto goes_on = std::async(
        std::launch::async, [&] { return copies.on_device(device, on.get(), table.data(), 4000); });
    CHECK(goes_on.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
    gate.open();
    void *const copy = waits.get(), *const other = goes_on.get();
    CHECK((other == copy) == (device == 0));
    on.wait();
    CHECK(std::memcmp(other, table.data(), 4000) == 0);
  }
  if (device == 0) Backend::Driver::unlock_pages(table.data(), 4000);
}

TEST_CASE("is_done answers at once, also while another thread waits for the end of the loop") {
  FakeDevices const devices;
  OneArray one({0});
  StreamResourcePool pool(allocate, std::size_t(1) << 30);
  DeviceWork::Gate gate;
  one.streams[0]->run(gate.hold());
  auto const loop            = run_stream(one.job, pool);
  std::size_t const before   = FakeCuda::calls("cuEventSynchronize");
  std::jthread const waiting = std::jthread([&] { loop->fence(); });
  while (FakeCuda::calls("cuEventSynchronize") == before) std::this_thread::yield();
  CHECK_FALSE(loop->is_done());
  gate.open();
  loop->fence();
  CHECK(loop->is_done());
}

TEST_CASE("a whole streamed loop runs beside a capture of another thread, and does not break it") {
  FakeDevices const devices;
  auto const kind =
      GENERATE(DeviceWork::Stream::Kind::blocking, DeviceWork::Stream::Kind::non_blocking);
  DeviceWork::Stream captured(kind), stream;
  captured.begin_capture();
  std::thread([&] {
    auto const allocate_by_driver = [](int device, std::size_t bytes) {
      return allocate_on_device(device, bytes, "a loop", "nothing");
    };
    StreamResourcePool pool(allocate_by_driver, std::size_t(1) << 30);
    Case random(2);
    Locked const locked(random);
    auto const expected = random.expected();
    for (int run = 0; run < 2; ++run) {
      auto const loop = run_stream(job_of(random, {&stream}), pool);
      (void)loop->is_done();
      loop->fence();
      if (run == 0) CHECK(random.arrays() == expected);
    }
    std::vector<int> const table(1000, 7);
    DeviceCopies copies(allocate_by_driver);
    void* const copy = copies.on_device(0, stream.get(), table.data(), 4000);
    CHECK(copies.on_device(0, stream.get(), table.data(), 4000) == copy);
    copies.forget();
    pool.release();
  }).join();
  CHECK(captured.end_capture());
}

TEST_CASE("threads share one copy of a resident View on each device, while others forget it") {
  FakeDevices const devices(2);
  std::atomic<int> allocations = 0, wrong = 0;
  {
    std::vector<int> const table(1000, 7);
    DeviceCopies copies([&](int device, std::size_t bytes) {
      ++allocations;
      return allocate(device, bytes);
    });
    auto const streams  = streams_on(2);
    auto const run_team = [&](int users, int forgetters) {
      std::latch start(users + forgetters);
      std::vector<std::jthread> team;
      for (int thread = 0; thread < users + forgetters; ++thread)
        team.emplace_back([&, thread] {
          start.arrive_and_wait();
          if (thread >= users) return copies.forget();
          int const device       = thread % 2;
          void const* const copy = copies.on_device(device, streams[std::size_t(device)]->get(),
                                                    table.data(), 1000 * sizeof(int));
          if (forgetters == 0) wrong += std::memcmp(copy, table.data(), 1000 * sizeof(int)) != 0;
        });
    };
    for (int round = 0; round < 20; ++round) {
      copies.forget();
      int const before = allocations;
      run_team(4, 0);
      wrong += allocations != before + 2;
      run_team(3, 1);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("threads run loops on one instance, on their own, and on several devices at once") {
  FakeDevices const devices(2);
  std::atomic<int> wrong = 0;
  {
    StreamResourcePool pool(allocate, 4096);  // some of the loops have to wait for memory
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
          run_stream(job_of(random, sets[thread]), pool)->fence();
          wrong += random.arrays() != expected;
          if (seed % 3 == 0) pool.release();
        }
      });
    }
  }
  CHECK(wrong == 0);
}
