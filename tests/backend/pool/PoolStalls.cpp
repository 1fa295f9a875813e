// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What only the fake runtime can do: keep a call waiting, fail at a chosen one, count them all.

#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../../support/WatchedThread.hpp"
#include "PoolTest.hpp"
#include "PoolWaits.hpp"

#include <stop_token>

using Clock = std::chrono::steady_clock;
using Kind  = DeviceWork::Stream::Kind;
using std::chrono::milliseconds;

namespace {

// A thread that registers memory, which keeps recordings waiting until the end of the scope.
class Staller {
 public:
  Staller() {
    constexpr milliseconds too_long(20000);
    FakeCuda::registering_takes(too_long);
    std::size_t const before = FakeCuda::calls("cudaHostRegister");
    m_thread.emplace([this] { Driver::lock_pages(m_pages, page_bytes()); });
    while (FakeCuda::calls("cudaHostRegister") == before) std::this_thread::yield();
    m_thread->wait_until_asleep();
  }
  ~Staller() {
    end();
    m_thread->join();
    Driver::unlock_pages(m_pages, page_bytes());
    unmap_pages(m_pages, page_bytes());
  }
  Staller(Staller const&)            = delete;
  Staller& operator=(Staller const&) = delete;

  static void end() { FakeCuda::registering_takes(milliseconds(0)); }

 private:
  void* m_pages = map_pages(page_bytes());
  std::optional<WatchedThread> m_thread;
};

}  // namespace

TEST_CASE("giving back calls no function of the driver, however much it is") {
  PoolTest const test(1);
  Blocks blocks;
  for (std::size_t i = 0; i < 200; ++i) blocks.add(1 + i * 5000);
  std::size_t const calls = FakeCuda::calls("*");
  blocks.deallocate();
  CHECK(FakeCuda::calls("*") == calls);
}

TEST_CASE("pairs of small blocks ask the device once for many, large ones once each") {
  PoolTest const test(1);
  DeviceWork::Stream const stream;
  std::size_t const bytes = GENERATE(100, 30 * KiB, 200 * KiB, MiB - 1, 1 * MiB, 20 * MiB);
  auto const pairs        = [&](int count) {
    for (int i = 0; i < count; ++i) Pool::deallocate(PoolTest::allocate(bytes));
  };
  pairs(200);
  std::size_t const records = FakeCuda::calls("cuCtxRecordEvent");
  std::size_t const queries = FakeCuda::calls("cuEventQuery");
  pairs(800);
  std::size_t const worth = bytes < MiB ? 7 : 1;  // pairs for each question
  CHECK(FakeCuda::calls("cuCtxRecordEvent") - records <= 800 / worth);
  CHECK(FakeCuda::calls("cuEventQuery") - queries <= 800 / worth);
}

TEST_CASE("a thread that waits in the driver keeps no free and no warm allocation waiting") {
  PoolTest const test(1);
  DeviceWork::Stream const stream;
  std::vector<char*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(PoolTest::allocate(1000));
  char* const large = PoolTest::allocate(20 * MiB);
  Pool::deallocate(large);
  std::atomic<bool> recorded{false};
  std::jthread recorder;
  {
    Staller const staller;
    std::size_t const before = FakeCuda::calls("cuCtxRecordEvent");
    recorder                 = std::jthread([&] {
      Pool::deallocate(PoolTest::allocate(20 * MiB));
      recorded = true;
    });
    while (FakeCuda::calls("cuCtxRecordEvent") == before) std::this_thread::yield();
    for (char*& block : blocks) Pool::deallocate(block);
    for (char*& block : blocks) block = PoolTest::allocate(1000);
    pool::statistics();
    CHECK_FALSE(recorded);
  }
  recorder.join();
  for (char* const block : blocks) Pool::deallocate(block);
}

TEST_CASE("an announced capture waits for a recording that another thread is making") {
  PoolTest const test(1);
  DeviceWork::Stream stream(Kind::non_blocking);
  Driver::Event event = nullptr;
  REQUIRE(Driver::record_all_work(0, event) == Driver::Recorded::yes);
  Staller const staller;
  std::atomic<bool> recorded{false};
  std::size_t const before = FakeCuda::calls("cuCtxRecordEvent");
  std::thread recorder(
      [&] { recorded = Driver::record_all_work(0, event) == Driver::Recorded::yes; });
  while (FakeCuda::calls("cuCtxRecordEvent") == before) std::this_thread::yield();
  std::jthread const ender([announcing = gettid()] {
    wait_until_asleep(announcing);
    Staller::end();
  });
  Driver::announce_capture();
  stream.begin_capture();
  CHECK(Driver::record_all_work(0, event) == Driver::Recorded::capturing);
  recorder.join();
  CHECK(stream.end_capture());
  Driver::end_announced_capture();
  CHECK(recorded);
  Driver::release_event(event);
}

TEST_CASE("a thread that chose no device makes no context, nor does a reservation") {
  PoolTest const test(2);
  FakeCuda::reset(2, false);
  DeviceWork::use(1);
  std::thread([] {
    Pool::deallocate(PoolTest::allocate(20 * MiB));
    Pool::deallocate(PoolTest::write_combined(1 * MiB));
  }).join();
  Pool::reserve(4 * MiB).wait();
  std::thread([] { Pool::reserve(4 * MiB).wait(); }).join();
  CHECK_FALSE(FakeCuda::has_context(0));
  CHECK(FakeCuda::has_context(1));
}

TEST_CASE("failure 2: work that never ends ends a shortage in an exception that names its device") {
  PoolTest const test(1);
  bool const without_events = GENERATE(false, true);
  if (without_events) FakeCuda::use_old_driver();
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  pool::set_limit(32 * MiB);
  char* const block = PoolTest::allocate(20 * MiB);
  stream.run(gate.hold());
  Pool::deallocate(block);
  TimePasses const time_passes;
  CHECK_THROWS_WITH(PoolTest::allocate(20 * MiB, "pressure"), ContainsSubstring("device 0") &&
                                                                  ContainsSubstring("pressure") &&
                                                                  ContainsSubstring("within 60 s"));
  if (without_events) Pool::release_all();
  gate.open();
  stream.wait();
  char* const again = PoolTest::allocate(20 * MiB);
  CHECK(again == block);
  Pool::deallocate(again);
}

TEST_CASE("work that never ends keeps an allocation waiting only once, and not for long") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  Pool::deallocate(PoolTest::allocate(100 * MiB));
  PoolTest::make_ready();  // it is known to be ready, and had better be given back
  stream.run(gate.hold());
  auto const questions = [before = FakeCuda::calls("cuEventQuery")] {
    return FakeCuda::calls("cuEventQuery") - before;
  };
  auto const start = Clock::now();
  Blocks blocks;
  {
    TimePasses const time_passes;
    blocks.add(110 * MiB);
  }
  CHECK(Clock::now() - start >= milliseconds(1000));
  std::size_t const first = questions();
  for (int i = 0; i < 3; ++i) blocks.add(110 * MiB);
  CHECK(questions() - first < 20);
}

TEST_CASE("failure 10: a block that gets ready while growing fails is found") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  char* const block = PoolTest::allocate(20 * MiB);
  stream.run(gate.hold());
  Pool::deallocate(block);
  FakeCuda::pin_at_most(30 * MiB);
  std::thread opener([&, before = FakeCuda::calls("cudaHostAlloc")] {
    while (FakeCuda::calls("cudaHostAlloc") == before) std::this_thread::yield();
    gate.open();
  });
  char* const again = PoolTest::allocate(20 * MiB);
  CHECK(static_cast<void*>(again) == block);
  opener.join();
  Pool::deallocate(again);
}

TEST_CASE("failure 11: a capture that did not end well does not count for ever") {
  PoolTest const test(1);
  DeviceWork::Stream stream(Kind::blocking);
  char* const block = PoolTest::allocate(20 * MiB);
  stream.begin_capture();
  Pool::deallocate(block);
  char* const other = PoolTest::allocate(20 * MiB);
  CHECK(other != block);
  FakeCuda::fail_nth_call("cudaStreamEndCapture", 1, 999);
  CHECK_FALSE(stream.end_capture());
  stream.end_capture();
  char* const again = PoolTest::allocate(20 * MiB);
  CHECK(again == block);
  Pool::deallocate(other);
  Pool::deallocate(again);
}

TEST_CASE("without events, work that never ends keeps an allocation waiting a second at most") {
  PoolTest const test(1);
  FakeCuda::use_old_driver();
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  std::size_t const bytes = GENERATE(20000, 100 * KiB, 20 * MiB);
  Blocks blocks;
  blocks.add(bytes);
  stream.run(gate.hold());
  Pool::deallocate(blocks.front());
  TimePasses const time_passes;
  std::size_t const at_least = PoolTest::usage().bytes_locked + 40 * MiB;
  char* const first          = std::exchange(blocks.front(), PoolTest::allocate(bytes));
  while (PoolTest::usage().bytes_locked < at_least) blocks.add(bytes);
  CHECK(std::find(blocks.begin(), blocks.end(), first) == blocks.end());
  gate.open();
  stream.wait();
}

TEST_CASE("failure 3: beside a kernel that never ends, memory of another stream is used again") {
  PoolTest const test(1);
  if (GENERATE(false, true)) FakeCuda::use_old_driver();
  DeviceWork::Stream endless, stream;
  constexpr std::size_t at_once = 8, most = 2 * MiB;
  auto const device = std::unique_ptr<void, void (*)(void*)>(Driver::allocate_on_device(0, most),
                                                             Driver::free_on_device);
  DeviceWork::Gate never;  // opens before the memory is freed, which waits for all work
  endless.run(never.hold());
  std::minstd_rand random(1);
  bool const one_size = GENERATE(true, false);
  if (one_size) pool::set_limit(at_once * most);
  int const rounds = sanitized ? 1000 : 3000;
  for (int i = 0; i < rounds; ++i) {
    std::size_t const bytes = one_size ? most : 1 + random() % most;
    char* const block       = PoolTest::allocate(bytes);
    Driver::copy(device.get(), block, 1, stream.get());
    Pool::deallocate_on({stream.get(), 0}, block);
    if (i % at_once == 0) stream.wait();
  }
  std::size_t const locked = PoolTest::usage().bytes_locked;
  CHECK(locked <= 2 * at_once * most);

  // All other memory waits for the kernel: the pool grows to its limit.
  pool::set_limit(locked + 16 * MiB);
  TimePasses const time_passes;
  auto const allocate_for_ever = [] {
    for (;;) Pool::deallocate(PoolTest::allocate(most));
  };
  CHECK_THROWS_WITH(allocate_for_ever(),
                    ContainsSubstring("device 0") && ContainsSubstring("within 60 s"));
  CHECK(PoolTest::usage().bytes_locked > locked);
  CHECK(pool::statistics().seconds_oldest_retired >= 1);
  never.open();
  endless.wait();
  Pool::deallocate(PoolTest::allocate(most));
}
