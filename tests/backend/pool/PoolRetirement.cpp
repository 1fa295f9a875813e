// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory is not handed out again while device work may touch it, and nothing waits for that.

#include "../../support/DeviceWork.hpp"
#include "../../support/WatchedThread.hpp"
#include "PoolTest.hpp"

using Kind = DeviceWork::Stream::Kind;

namespace {

// Is the next block of that size the one that was given back?
bool comes_back(char* block, std::size_t bytes) {
  char* const next = PoolTest::allocate(bytes);
  Pool::deallocate(next);
  return next == block;
}

}  // namespace

TEST_CASE("a retired block says so, and is ready when the work is done") {
  PoolTest const test(1);
  constexpr std::size_t bytes = 20 * MiB;
  DeviceWork::Stream stream(GENERATE(Kind::blocking, Kind::non_blocking));
  DeviceWork::Gate gate;
  char* const block = PoolTest::allocate(bytes, "field");
  stream.run(gate.hold());
  Pool::deallocate(block);
  CHECK(pool::describe(block)->state == pool::State::retired);
  CHECK(pool::describe(block)->label == "field");
  CHECK(PoolTest::usage().bytes_retired == bytes);
  CHECK(pool::trim(0) == 0);
  gate.open();
  stream.wait();
  CHECK(comes_back(block, bytes));
}

TEST_CASE("failure 1: work submitted after a query does not delay a block") {
  PoolTest const test(1);
  std::size_t const bytes = GENERATE(2 * MiB, 20 * MiB);
  DeviceWork::Stream early, late;
  DeviceWork::Gate early_gate, late_gate;
  char* const block = PoolTest::allocate(bytes);
  early.run(early_gate.hold());
  Pool::deallocate(block);
  Blocks others;
  auto const take_all = [&] {
    while (PoolTest::usage().bytes_cached >= bytes) others.add(bytes);
  };
  take_all();
  others.add(bytes);  // finds nothing ready, and records
  take_all();
  late.run(late_gate.hold());
  early_gate.open();
  early.wait();
  CHECK(comes_back(block, bytes));
}

TEST_CASE("a large request finds out what is over, before it may have to be told from new work") {
  PoolTest const test(1);
  constexpr std::size_t bytes = 20 * MiB;
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  char* const first  = PoolTest::allocate(bytes);
  char* const second = PoolTest::allocate(bytes);
  Pool::deallocate(first);
  pool::trim(bytes);
  Pool::deallocate(second);
  char* const ready = PoolTest::allocate(bytes);
  stream.run(gate.hold());
  std::size_t const misses = PoolTest::usage().misses;
  char* const as_well      = PoolTest::allocate(bytes);
  CHECK(PoolTest::usage().misses == misses);
  Pool::deallocate(ready);
  Pool::deallocate(as_well);
}

// What waits at the limit sleeps for moments, and looks: under a sanitizer, on a busy machine, it is hardly ever found
// asleep many times in a row.
constexpr int naps = 3;

TEST_CASE("at the limit an allocation waits for memory that is retired") {
  PoolTest const test(1);
  constexpr std::size_t bytes = 40 * MiB;
  std::size_t const next      = GENERATE(40 * MiB, 44 * MiB);  // reused, and given back for another
  char* const block           = PoolTest::allocate(bytes);
  pool::set_limit(64 * MiB);
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  std::atomic<bool> read = false;
  stream.run(gate.hold());
  stream.run([&read, block] { read = block[0] == 'x'; });
  block[0] = 'x';
  Pool::deallocate(block);
  char* const small = PoolTest::allocate(2 * MiB);
  std::jthread const opener([&, allocating = gettid()] {
    wait_until_asleep(allocating, naps);
    gate.open();
  });
  char* const other = PoolTest::allocate(next);
  other[0]          = 'y';
  stream.wait();
  CHECK(read);
  Pool::deallocate(other);
  Pool::deallocate(small);
}

TEST_CASE("at the limit memory is waited for that fits only because it is locked already") {
  PoolTest const test(1);
  constexpr std::size_t bytes = MiB + MiB / 2;  // a segment serves two
  Blocks blocks;
  blocks.add(bytes);
  blocks.add(bytes);
  std::size_t const locked = PoolTest::usage().bytes_locked;
  REQUIRE(locked == 3 * MiB);
  pool::set_limit(GENERATE_COPY(locked, locked - 1 * MiB));
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  Pool::deallocate(blocks.front());
  std::jthread const opener([&, allocating = gettid()] {
    wait_until_asleep(allocating, naps);
    gate.open();
  });
  blocks.front() = nullptr;
  CHECK_NOTHROW(blocks.front() = PoolTest::allocate(bytes));
}

TEST_CASE("failure 9: at the limit a capture is not waited for") {
  PoolTest const test(1);
  pool::set_limit(32 * MiB);
  char* const block = PoolTest::allocate(20 * MiB);
  DeviceWork::Stream stream(Kind::blocking);
  stream.begin_capture();
  Pool::deallocate(block);
  CHECK_THROWS_MATCHES(PoolTest::allocate(20 * MiB), OutOfPinnedMemory,
                       MessageMatches(!ContainsSubstring("did not get ready within")));
  CHECK(stream.end_capture());
  CHECK(comes_back(block, 20 * MiB));
}

TEST_CASE("failure 6: streams that are gone do not matter to memory that they have used") {
  PoolTest const test(1);
  constexpr int streams = 1000;
  std::atomic<int> ran{0};
  char* const block = PoolTest::allocate(20 * MiB);
  block[0]          = 'x';
  for (int i = 0; i < streams; ++i) {
    DeviceWork::Stream stream(i % 2 == 0 ? Kind::blocking : Kind::non_blocking);
    stream.run([&ran, block] { ran += block[0] == 'x' ? 1 : 0; });
  }
  // The last one is destroyed while it works; the fake runtime waits for that, the real one does not.
  DeviceWork::Gate gate;
  std::atomic<bool> destroying{false};
  std::thread last([&] {
    DeviceWork::Stream stream(Kind::non_blocking);
    stream.run(gate.hold());
    destroying = true;
  });
  while (!destroying) std::this_thread::yield();
  Pool::deallocate(block);
  char* const other = PoolTest::allocate(20 * MiB);
  CHECK(other != block);
  gate.open();
  last.join();
  char* const again = PoolTest::allocate(20 * MiB);
  CHECK(again == block);
  CHECK(ran == streams);
  Pool::deallocate(other);
  Pool::deallocate(again);
}

TEST_CASE(
    "failure 7: a capture survives what other threads allocate and give back, in every mode") {
  PoolTest const test(1);
  auto const mode = GENERATE(cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                             cudaStreamCaptureModeRelaxed);
  auto const kind = GENERATE(Kind::blocking, Kind::non_blocking);
  DeviceWork::Stream stream(kind), busy;
  std::atomic<bool> stop{false};
  std::atomic<int> cycles{0};
  std::thread other([&] {
    while (!stop) {
      Blocks blocks;
      for (std::size_t i = 0; i < 20; ++i) blocks.add(1000 + i * 100000);
      blocks.deallocate();
      pool::trim(8 * MiB);
      ++cycles;
    }
  });
  int survived = 0;
  for (int i = 0; i < 10; ++i) {
    // An event is pending for a while, so that the other thread asks it during the capture. It may wait for it, too.
    auto const over = std::make_shared<std::atomic<bool>>(false);
    busy.run([over] {
      auto const late = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
      while (!*over && std::chrono::steady_clock::now() < late)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    });
    for (int pair = 0; pair < 2; ++pair) Pool::deallocate(PoolTest::allocate(20 * MiB));
    // Captures of blocking streams are seen by a look, which may come a moment too early: these are
    // announced as well.
    Driver::announce_capture();
    stream.begin_capture(mode);
    for (int const before = cycles; cycles < before + 2;) std::this_thread::yield();
    *over = true;
    survived += stream.end_capture() ? 1 : 0;
    Driver::end_announced_capture();
  }
  stop = true;
  other.join();
  CHECK(survived == 10);
}

TEST_CASE("failure 5: blocks made beside one device and used on the other wait for both") {
  PoolTest const test(2);
  constexpr std::size_t bytes = 20 * MiB;
  DeviceWork::use(1);
  DeviceWork::Stream second;
  DeviceWork::use(0);
  DeviceWork::Stream first;
  DeviceWork::Stream* const streams[] = {&first, &second};
  DeviceWork::Gate gates[2];
  std::atomic<int> intact{0};
  char* const block = PoolTest::allocate(bytes);
  block[0] = block[bytes - 1] = 'o';
  for (int device : {0, 1}) {
    streams[device]->run(gates[device].hold());
    streams[device]->run(
        [&intact, block] { intact += block[0] == 'o' && block[bytes - 1] == 'o' ? 1 : 0; });
  }
  Pool::deallocate(block);
  int const opened_first = GENERATE(0, 1);
  gates[opened_first].open();
  streams[opened_first]->wait();
  char* const other = PoolTest::allocate(bytes);
  CHECK(other != block);
  other[0] = other[bytes - 1] = 'n';
  gates[1 - opened_first].open();
  streams[1 - opened_first]->wait();
  CHECK(intact == 2);
  CHECK(comes_back(block, bytes));
  Pool::deallocate(other);
  CHECK(cudaGetLastError() == cudaSuccess);
}
