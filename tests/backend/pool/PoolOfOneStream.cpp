// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that waits for the work of one stream alone.

#include "../../../backend/Replays.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../../support/WatchedThread.hpp"
#include "PoolTest.hpp"

using Kind = DeviceWork::Stream::Kind;

namespace {

void retire_on(DeviceWork::Stream const& stream, void* block, int device = 0) {
  Pool::deallocate_on({stream.get(), device}, block);
}

// Takes all ready memory of this size, until more is locked: is the block among it?
bool is_taken_again(char* block, std::size_t bytes) {
  std::vector<char*> taken;
  std::size_t const misses = PoolTest::usage().misses;
  while (PoolTest::usage().misses == misses) taken.push_back(PoolTest::allocate(bytes));
  bool const came = std::find(taken.begin(), taken.end(), block) != taken.end();
  for (char* const other : taken) Pool::deallocate(other);
  return came;
}

// A stream without end beside a stream with work that ends.
struct Beside {
  DeviceWork::Stream endless, stream;
  DeviceWork::Gate never, later;
  Beside() {
    endless.run(never.hold());
    stream.run(later.hold());
  }
};

}  // namespace

TEST_CASE("memory of one stream waits for its work, and for no other stream") {
  PoolTest const test(1);
  std::size_t const bytes = GENERATE(100, 20000, 100 * KiB, 2 * MiB, 20 * MiB);
  char* const block       = PoolTest::allocate(bytes);
  Beside work;
  retire_on(work.stream, block);
  CHECK(pool::describe(block)->state == pool::State::retired);
  CHECK(PoolTest::usage().bytes_in_use == 0);
  CHECK_FALSE(is_taken_again(block, bytes));
  work.later.open();
  work.stream.wait();
  CHECK(is_taken_again(block, bytes));
}

TEST_CASE("failure 6: memory of a stream that was destroyed waits for what that had to do") {
  PoolTest const test(1);
  char* const block = PoolTest::allocate(2 * MiB);
  DeviceWork::Stream other;
  DeviceWork::Gate gate;
  other.run(gate.hold());
  std::optional<WatchedThread> destroyer;
  {
    cudaStream_t stream = nullptr;
    DeviceWork::require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making");
    Driver::Event held = nullptr;
    Driver::record(held, other.get(), 0);
    Driver::make_wait(stream, held, 0);
    Pool::deallocate_on({stream, 0}, block);
    // The fake runtime waits here for the stream's work, which the real one does not.
    destroyer.emplace([stream] { cudaStreamDestroy(stream); });
    destroyer->wait_until_asleep();
    Driver::release_event(held);
  }
  CHECK_FALSE(is_taken_again(block, 2 * MiB));
  gate.open();
  destroyer->join();
  other.wait();
  CHECK(is_taken_again(block, 2 * MiB));
}

TEST_CASE("a stream's memory waits for what other streams and devices do that it waits for") {
  PoolTest const test(2);
  DeviceWork::use(1);
  DeviceWork::Stream second;
  DeviceWork::use(0);
  Beside first;
  DeviceWork::Gate gate;
  char* const block = PoolTest::allocate(2 * MiB);
  first.later.open();
  second.run(gate.hold());
  Driver::Event event = nullptr;
  Driver::record(event, second.get(), 1);
  Driver::make_wait(first.stream.get(), event, 0);
  Driver::release_event(event);
  retire_on(first.stream, block);
  CHECK_FALSE(is_taken_again(block, 2 * MiB));
  gate.open();
  first.stream.wait();
  REQUIRE(is_taken_again(block, 2 * MiB));

  char* const of_second = PoolTest::allocate(2 * MiB);
  DeviceWork::Gate of_both;
  second.run(of_both.hold());
  retire_on(second, of_second, 1);
  CHECK_FALSE(is_taken_again(of_second, 2 * MiB));
  of_both.open();
  second.wait();
  CHECK(is_taken_again(of_second, 2 * MiB));
}

TEST_CASE("the statistics tell how old the oldest retired memory is") {
  PoolTest const test(1);
  auto const age    = [] { return pool::statistics().seconds_oldest_retired; };
  char* const block = PoolTest::allocate(20 * MiB);
  CHECK(age() == 0);
  Beside work;
  SECTION("that waits for one stream") { retire_on(work.stream, block); }
  SECTION("that waits for all work") {
    Pool::deallocate(block);
    Pool::deallocate(PoolTest::allocate(20 * MiB));
  }
  PoolTest::make_ready();
  double const before = age();
  CHECK(before > 0);
  CHECK(age() > before);
  work.later.open();
  work.never.open();
  work.stream.wait();
  work.endless.wait();
  PoolTest::make_ready();
  CHECK(age() == 0);
}

TEST_CASE("threads retire memory on the legacy default stream beside announced captures") {
  PoolTest const test(1);
  std::atomic<bool> ends{false};
  std::jthread retires([&] {
    DeviceWork::use(0);
    while (!ends) Pool::deallocate_on({nullptr, 0}, PoolTest::allocate(1000));
  });
  int broken = 0;
  {
    DeviceWork::Stream captured(Kind::blocking);
    for (int round = 0; round < 200; ++round) {
      Driver::announce_capture();
      captured.begin_capture(cudaStreamCaptureModeThreadLocal);
      std::this_thread::yield();
      if (!captured.end_capture()) ++broken;
      Driver::end_announced_capture();
    }
  }
  ends = true;
  retires.join();
  CHECK(broken == 0);
  pool::trim(0);
  CHECK(PoolTest::usage().bytes_locked == 0);
}
