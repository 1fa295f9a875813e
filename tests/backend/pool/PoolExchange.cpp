// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Growing beside work that runs and beside other threads, in turns that the fake runtime tells: what
// is ready and does not fit is exchanged for what fits, and nobody waits for what does not end.

#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../../support/WatchedThread.hpp"
#include "PoolTest.hpp"
#include "PoolWaits.hpp"

namespace {

// Work that lasts until the end of the scope, or until the pool waits for it.
class LastingWork {
 public:
  explicit LastingWork(DeviceWork::Stream& stream) {
    stream.run([over = m_over, waits = PoolWaits()] {
      while (!*over && !waits()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
  }
  ~LastingWork() { *m_over = true; }
  LastingWork(LastingWork const&)            = delete;
  LastingWork& operator=(LastingWork const&) = delete;

 private:
  std::shared_ptr<std::atomic<bool>> m_over = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

TEST_CASE("sizes in turn, given back while work runs, are soon locked no more") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  Watched watched;
  unsigned const seed     = GENERATE(0u, 1u, 2u, 3u);  // 0: all work lasts
  std::size_t const least = GENERATE(20, 50), step = GENERATE(3, 8);
  std::mt19937 random(seed);
  constexpr std::size_t rounds = 64;
  std::size_t misses           = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    if (i == rounds / 2) misses = PoolTest::usage().misses;
    std::size_t const bytes = (least + step * (i % 4)) * MiB;
    watched.deallocate(watched.allocate(bytes));
    {
      std::optional<LastingWork> work;
      if (seed == 0 || random() % 2 == 0) work.emplace(stream);
      watched.deallocate(watched.allocate_beside_work(bytes));
    }
    stream.wait();
  }
  CAPTURE(watched.needed() / MiB, watched.locked() / MiB, seed, least, step);
  CHECK(watched.excess() == 0);
  CHECK(PoolTest::usage().misses == misses);
}

// Large memory lies ready, and no exchange is left: the pool holds twice its need.
TEST_CASE(
    "small requests after large ones come to have memory that serves them without questions") {
  PoolTest const test(1);
  for (std::size_t round = 0; round < 12; ++round) {
    char* last = nullptr;
    for (std::size_t i = 1; i <= 40; ++i) {
      char* const next = PoolTest::allocate(i * 2'000'000 + round * 1000);
      Pool::deallocate(last);
      last = next;
    }
    Pool::deallocate(last);
  }
  Pool::deallocate(PoolTest::allocate(200 * MiB));

  std::vector<char*> blocks(1000, nullptr);
  std::size_t questions = 0;
  for (std::size_t round = 0; round < 12; ++round) {
    questions = FakeCuda::calls("cuCtxRecordEvent");
    std::mt19937 random(unsigned(round) + 1);
    for (char*& block : blocks) {
      Pool::deallocate(block);
      block = PoolTest::allocate(KiB + random() % (255 * KiB));
    }
  }
  CHECK(FakeCuda::calls("cuCtxRecordEvent") - questions < blocks.size() / 10);
  for (char* const block : blocks) Pool::deallocate(block);
}

TEST_CASE("work that begins while an allocation waits, and does not end, keeps it no longer") {
  PoolTest const test(1);
  DeviceWork::Stream first, second;
  DeviceWork::Gate first_gate, second_gate;
  bool const at_limit = GENERATE(false, true);
  if (at_limit) {
    PoolTest::reserve(100 * MiB, 100 * MiB).wait();
    pool::set_limit(128 * MiB);
  } else {
    Pool::deallocate(PoolTest::allocate(100 * MiB));
    PoolTest::make_ready();
  }
  first.run(first_gate.hold());
  PoolWaits const waits;
  auto const allocation = std::async(std::launch::async, [] {
    try {
      Pool::deallocate(PoolTest::allocate(110 * MiB));
    } catch (OutOfPinnedMemory const&) {
      // At the limit, only what would be waited for helps.
    }
  });
  while (!waits()) std::this_thread::yield();
  second.run(second_gate.hold());
  TimePasses const time_passes;
  first_gate.open();
  CHECK(allocation.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  second_gate.open();
}

TEST_CASE("without caching, an allocation does not wait for work that runs", "[.pool_off]") {
  PoolTest const test(1);
  DeviceWork::Stream first, second;
  DeviceWork::Gate first_gate, second_gate;
  char* const block = PoolTest::allocate(20 * MiB);
  first.run(first_gate.hold());
  Pool::deallocate(block);
  char* const other = PoolTest::allocate(20 * MiB);  // asks for the first work
  first_gate.open();
  first.wait();
  second.run(second_gate.hold());
  auto const allocation =
      std::async(std::launch::async, [] { Pool::deallocate(PoolTest::allocate(20 * MiB)); });
  CHECK(allocation.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  second_gate.open();
  second.wait();
  Pool::deallocate(other);
  Pool::deallocate(PoolTest::allocate(1 * MiB));
  CHECK(PoolTest::usage().bytes_locked < 20 * MiB);
}

TEST_CASE("memory that is being locked for one thread is counted when another wants more") {
  PoolTest const test(1);
  Watched watched;
  std::vector<char*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(watched.allocate(20 * MiB));
  for (char* const block : blocks) watched.deallocate(block);
  pool::trim(60 * MiB);
  constexpr std::size_t wanted = 40 * MiB;  // by each of two: less than there was
  FakeCuda::registering_takes(std::chrono::milliseconds(20000));
  std::vector<char*> larger(2);
  std::size_t const before = FakeCuda::calls("cudaHostRegister");
  std::jthread one([&] { larger[0] = PoolTest::allocate(wanted); });
  while (FakeCuda::calls("cudaHostRegister") == before) std::this_thread::yield();
  WatchedThread other([&] { larger[1] = PoolTest::allocate(wanted); });
  other.wait_until_asleep();
  FakeCuda::registering_takes(std::chrono::milliseconds(0));
  one.join();
  other.join();
  watched.note();
  CAPTURE(watched.needed() / MiB, watched.locked() / MiB);
  CHECK(watched.excess() == 0);
  for (char* const block : larger) Pool::deallocate(block);
}
