// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that is wanted before the program has chosen a device, as by static constructors, or while
// the driver fails to tell its devices.

#include "../../backend/Placement.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"
#include "CapturedStderr.hpp"
#include "pool/PoolTest.hpp"

namespace {

template <class Work>
std::string told_by(Work work) {
  CapturedStderr const captured;
  work();
  return captured.text();
}

// A pool and a machine whose devices nobody has used.
struct Unused {
  PoolTest const test{2};
  Unused() { FakeCuda::reset(2, false); }
};

}  // namespace

TEST_CASE("memory before a device is chosen makes no context, and is page-locked when one is") {
  Unused const unused;
  std::vector<char> mine(8192);
  std::vector<char*> const blocks{PoolTest::allocate(100), PoolTest::allocate(20 * MiB),
                                  PoolTest::write_combined(100), PoolTest::write_combined(3 * MiB)};
  Pool::reserve(4 * MiB).wait();
  register_range(mine.data(), mine.size(), "mine");
  for (char* const block : blocks) std::memset(block, 7, 100);
  Pool::deallocate(PoolTest::allocate(200 * KiB));
  CHECK_FALSE(Driver::has_context());
  DeviceWork::use(1);
  Pool::lock_waiting();
  lock_waiting_ranges();
  for (char* const block : blocks) CHECK((is_locked(block) && block[99] == 7));
  CHECK(is_locked(mine.data()));
  Blocks later;
  for (std::size_t const bytes : {200 * KiB, 4 * MiB}) CHECK(is_locked(later.add(bytes)));
  CHECK_FALSE(FakeCuda::has_context(0));
  for (char* const block : blocks) Pool::deallocate(block);
  CHECK(unregister_range(mine.data()).empty());
}

TEST_CASE("a range whose registration ends before a device is chosen is not page-locked") {
  Unused const unused;
  std::vector<char> mine(8192), kept(8192);
  register_range(mine.data(), mine.size(), "mine");
  register_range(kept.data(), kept.size(), "kept");
  CHECK(unregister_range(mine.data()).empty());
  DeviceWork::use(1);
  lock_waiting_ranges();
  CHECK_FALSE(is_locked(mine.data()));
  CHECK(is_locked(kept.data()));
  CHECK(unregister_range(kept.data()).empty());
}

TEST_CASE("a driver that tells its devices late gets all memory page-locked then") {
  PoolTest const test(1);
  FakeCuda::reset(1);
  std::vector<char> mine(8192);
  int const not_ready = 802;
  FakeCuda::fail_nth_call("cudaGetDeviceCount", 1, not_ready);
  char* const first = PoolTest::allocate(100);
  FakeCuda::reset(1);
  FakeCuda::fail_nth_call("cudaGetDeviceCount", 1, not_ready);
  register_range(mine.data(), mine.size(), "mine");
  char* const second = PoolTest::allocate(100);
  lock_waiting_ranges();
  CHECK(is_locked(first));
  CHECK(is_locked(second));
  CHECK(is_locked(mine.data()));
  Pool::deallocate(first);
  Pool::deallocate(second);
  CHECK(unregister_range(mine.data()).empty());
}

// Run with the topology of another machine: device 0 is near its node 0.
TEST_CASE("a node that the driver fails to tell is asked for again", "[.node_is_told_late]") {
  FakeCuda::reset(1);
  for (char const* const call : {"cudaGetDeviceCount", "cudaDeviceGetPCIBusId"}) {
    FakeCuda::fail_nth_call(call, 1, 999);
    CHECK(node_near_device(0) == -1);
  }
  CHECK(node_near_device(0) == 0);
}

TEST_CASE("early memory that cannot be page-locked is told of, stays in use, and is tried again") {
  Unused const unused;
  std::vector<char> mine(8192);
  char* const block = PoolTest::allocate(100);
  register_range(mine.data(), mine.size(), "mine");
  block[99] = 7;
  DeviceWork::use(1);
  FakeCuda::fail_nth_call("cudaHostRegister", 1);
  std::string const told = told_by([] { Pool::lock_waiting(); });
  CHECK(told.find("once a device is in use") != std::string::npos);
  CHECK_FALSE(is_locked(block));
  FakeCuda::fail_nth_call("cudaHostRegister", 1);
  CHECK(told_by([] { lock_waiting_ranges(); }).find("'mine'") != std::string::npos);
  CHECK((unregister_range(mine.data()).empty() && block[99] == 7));
  std::vector<char*> const grown{block, PoolTest::allocate(20 * MiB), PoolTest::allocate(100)};
  for (char* const each : grown) CHECK(is_locked(each));
  for (char* const each : grown) Pool::deallocate(each);
}

TEST_CASE("threads allocate, register and give back while a device is chosen") {
  Unused const unused;
  std::atomic<bool> chosen{false};
  std::vector<std::jthread> threads;
  std::atomic<int> unlocked{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<char> mine(8192);
      for (int i = 0; i < 30; ++i) {
        bool const was_chosen = chosen;
        char* const block     = PoolTest::allocate(i % 3 == 0 ? 2 * MiB : 100);
        register_range(mine.data(), mine.size(), "mine");
        if (was_chosen && !is_locked(mine.data())) ++unlocked;
        std::memset(block, i, 100);
        Pool::deallocate(block);
        if (!unregister_range(mine.data()).empty()) ++unlocked;
        if (i % 10 == 0) pool::trim(0);
      }
    });
  }
  DeviceWork::use(1);
  chosen = true;
  Pool::lock_waiting();
  lock_waiting_ranges();
  threads.clear();
  CHECK(unlocked == 0);
  char* const block = PoolTest::allocate(100);
  CHECK(is_locked(block));
  Pool::deallocate(block);
}

TEST_CASE("early memory is page-locked on return also if another thread is at it") {
  Unused const unused;
  std::vector<char*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(PoolTest::allocate(20 * MiB));
  DeviceWork::use(1);
  FakeCuda::registering_takes(std::chrono::milliseconds(50));
  std::jthread other([] {
    DeviceWork::use(1);
    Pool::deallocate(PoolTest::allocate(100));
  });
  while (Pools::instance().some_wait()) std::this_thread::yield();
  Pool::lock_waiting();
  for (char* const block : blocks) {
    CHECK(is_locked(block));
    Pool::deallocate(block);
  }
}
