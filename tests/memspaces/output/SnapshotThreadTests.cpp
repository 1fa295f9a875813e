// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The thread of snapshots on the fake CUDA runtime: what streams do while it waits, and failures.

#include "../FakeTest.hpp"

#include <KokkosHostSpaces/impl/output/SnapshotThread.hpp>

#include <sched.h>

namespace SnapshotThreads {

using namespace KokkosHostSpaces;
using Impl::SnapshotJob, Impl::SnapshotThread;

class Calls final : public Impl::SnapshotWriter {
 public:
  explicit Calls(std::function<void()> work) : m_work(std::move(work)) {}
  void write() override { m_work(); }

 private:
  std::function<void()> m_work;
};

std::uint64_t take(SnapshotThread& thread, DeviceWork::Stream& stream, int device,
                   std::function<void()> work, std::size_t bytes = 1) {
  std::list<SnapshotJob> job;
  job.emplace_back(thread, "snapshot", bytes);
  job.front().writer = std::make_unique<Calls>(std::move(work));
  job.front().wait_for(stream.get(), device);
  return thread.push(job);
}

TEST_CASE("writers are called when the work of their stream is done, in the order of calls",
          "[snapshot_thread]") {
  FakeCuda::reset(2);
  {
    DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");
    DeviceWork::Stream second;
    DeviceWork::require(cudaSetDevice(0), "cudaSetDevice");
    DeviceWork::Stream first;
    DeviceWork::Gate gate;
    auto const thread = SnapshotThread::start(0);
    std::vector<int> order;
    first.run(gate.hold());
    auto const held = take(*thread, first, 0, [&] { order.push_back(1); });
    auto const free = take(*thread, second, 1, [&] { order.push_back(2); });
    second.wait();
    CHECK_FALSE(thread->is_done(held));
    CHECK_FALSE(thread->is_done(free));
    gate.open();
    thread->fence(free);
    CHECK(order == std::vector{1, 2});
    thread->close();
  }
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("while a stream captures, writers of other streams are called and the capture holds",
          "[snapshot_thread]") {
  FakeCuda::reset();
  {
    DeviceWork::Stream captures, works;
    DeviceWork::Gate gate;
    auto const thread = SnapshotThread::start(0);
    works.run(gate.hold());
    auto const held = take(*thread, works, 0, [] {});
    captures.begin_capture();
    CHECK_THROWS_AS(SnapshotThread::refuse_capture("captured", captures.get()), Error);
    SnapshotThread::refuse_capture("works", works.get());
    gate.open();
    thread->fence(held);
    CHECK(captures.end_capture());
    thread->close();
  }
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("a device that fails is told by the fence, and the writer is not called",
          "[snapshot_thread]") {
  FakeCuda::reset();
  {
    DeviceWork::Stream stream;
    auto const thread = SnapshotThread::start(0);
    bool called       = false;
    DeviceWork::Gate gate;
    stream.run(gate.hold());
    FakeCuda::fail_nth_call("cuEventQuery", 1, cudaErrorLaunchFailure);
    auto const failed = take(*thread, stream, 0, [&] { called = true; });
    CHECK_THROWS_AS(thread->fence(failed), Error);
    CHECK_FALSE(called);
    gate.open();
    thread->fence(take(*thread, stream, 0, [&] { called = true; }));
    CHECK(called);
    thread->close();
  }
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("a snapshot that was not taken does not raise the bound of later ones",
          "[snapshot_thread]") {
  FakeCuda::reset();
  auto const thread        = SnapshotThread::start(0);
  constexpr auto megabytes = [](std::size_t n) { return n << 20; };
  { SnapshotJob const failed(*thread, "failed", megabytes(1 << 20)); }
  std::atomic<pid_t> taker  = 0;
  std::atomic<bool> entered = false;
  std::jthread other;
  {
    SnapshotJob const held(*thread, "held", megabytes(40));
    other = std::jthread([&] {
      taker = gettid();
      SnapshotJob const more(*thread, "more than 64 MiB together", megabytes(30));
      entered = true;
    });
    while (taker == 0) std::this_thread::yield();
    wait_until_asleep(taker);
    CHECK_FALSE(entered);
  }
  other.join();
  CHECK(entered);
  thread->close();
}

TEST_CASE("threads that share a bound wait for one another, and all are served in their order",
          "[snapshot_thread]") {
  FakeCuda::reset();
  {
    auto const thread       = SnapshotThread::start(5);
    std::atomic<int> called = 0;
    std::size_t written[4]  = {};  // of each thread
    bool in_order           = true;
    {
      std::vector<std::jthread> team;
      for (std::size_t t = 0; t < 4; ++t)
        team.emplace_back([&, t] {
          DeviceWork::Stream stream;
          for (std::size_t i = 0; i < 100; ++i) {
            auto const number = take(
                *thread, stream, 0,
                [&, t, i] {
                  ++called;
                  in_order &= written[t]++ == i;
                },
                1 + (t + i) % 5);
            if (i % 10 == 0) thread->fence(number);
          }
        });
    }
    thread->close();
    CHECK((called == 400 && in_order));
    CHECK(thread->bytes_in_flight() == 0);
  }
  CHECK(FakeCuda::nothing_leaked());
}

TEST_CASE("writers run on the cores of the process, whatever the caller is bound to",
          "[snapshot_thread]") {
  FakeCuda::reset();
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  if (CPU_COUNT(&all) < 2) SKIP("one core");
  int cores = 0;
  std::thread([&] {
    cpu_set_t first;
    CPU_ZERO(&first);
    int core = 0;
    while (!CPU_ISSET(core, &all)) ++core;
    CPU_SET(core, &first);
    sched_setaffinity(0, sizeof first, &first);
    auto const thread = SnapshotThread::start(0);
    DeviceWork::Stream stream;
    take(*thread, stream, 0, [&] {
      cpu_set_t of_writer;
      sched_getaffinity(0, sizeof of_writer, &of_writer);
      cores = CPU_COUNT(&of_writer);
    });
    thread->close();
  }).join();
  CHECK(cores == CPU_COUNT(&all));
}

TEST_CASE("a thread of the parent that takes memory does not hold up the child of a fork",
          "[snapshot_thread]") {
  std::atomic<int> step = 0;
  std::jthread const other([&] {
    auto const turn = SnapshotThread::turn_to_take_memory();
    step            = 1;
    step.notify_all();
    step.wait(1);
  });
  step.wait(0);
  CHECK(ChildOfFork::status(
            [] { return SnapshotThread::turn_to_take_memory().owns_lock() ? 0 : 1; }) == 0);
  step = 2;
  step.notify_all();
}

}  // namespace SnapshotThreads
