// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory is not handed out again while device work may touch it, and nothing waits for that.

#include "../../support/DeviceWork.hpp"
#include "PoolTest.hpp"

using Kind = DeviceWork::Stream::Kind;

namespace {

// A cache that hands memory out again at once.
class CarelessCache {
 public:
  ~CarelessCache() {
    for (char* const block : m_blocks) delete[] block;
  }
  char* allocate(std::size_t bytes) {
    if (m_free.empty()) {
      m_blocks.push_back(new char[bytes]);
      return m_blocks.back();
    }
    char* const block = m_free.back();
    m_free.pop_back();
    return block;
  }
  void deallocate(char* block) { m_free.push_back(block); }

 private:
  std::vector<char*> m_blocks, m_free;
};

// Does delayed work still find in memory what was there when the memory was given back, while its
// new owners write to what they get?
template <class Allocate, class Deallocate>
bool delayed_reader_sees_old_bytes(std::size_t bytes, Allocate allocate, Deallocate deallocate) {
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  std::atomic<bool> unchanged = false;
  char* const memory          = allocate(bytes);
  std::memset(memory, 'o', bytes);
  stream.run(gate.hold());
  stream.run([&unchanged, memory, bytes] {
    unchanged = std::all_of(memory, memory + bytes, [](char byte) { return byte == 'o'; });
  });
  deallocate(memory);
  std::vector<char*> others;
  for (int i = 0; i < 4; ++i) {
    others.push_back(allocate(bytes));
    std::memset(others.back(), 'n', bytes);
  }
  gate.open();
  stream.wait();
  for (char* const other : others) deallocate(other);
  return unchanged;
}

// Is the next block of that size the one that was given back?
bool comes_back(char* block, std::size_t bytes) {
  char* const next = PoolTest::allocate(bytes);
  Pool::deallocate(next);
  return next == block;
}

}  // namespace

TEST_CASE("work that was submitted before memory was given back still finds its old bytes") {
  PoolTest const test(1);
  std::size_t const bytes = GENERATE(100, 20000, 100 * KiB, 2 * MiB, 20 * MiB);
  SECTION("with the pool") {
    CHECK(delayed_reader_sees_old_bytes(
        bytes, [](std::size_t n) { return PoolTest::allocate(n); }, Pool::deallocate));
  }
  SECTION("positive control: a careless cache is caught") {
    CarelessCache cache;
    CHECK_FALSE(delayed_reader_sees_old_bytes(
        bytes, [&](std::size_t n) { return cache.allocate(n); },
        [&](char* block) { cache.deallocate(block); }));
  }
}

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
  std::vector<char*> others;
  auto const take_all = [&] {
    while (PoolTest::usage().bytes_cached >= bytes) others.push_back(PoolTest::allocate(bytes));
  };
  take_all();
  others.push_back(PoolTest::allocate(bytes));  // finds nothing ready, and records
  take_all();
  late.run(late_gate.hold());
  early_gate.open();
  early.wait();
  CHECK(comes_back(block, bytes));
  for (char* const other : others) Pool::deallocate(other);
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

TEST_CASE("giving memory back during a capture breaks nothing, and the memory comes back") {
  PoolTest const test(1);
  constexpr std::size_t bytes = 20 * MiB;
  char* const block           = PoolTest::allocate(bytes);
  DeviceWork::Stream stream(Kind::blocking);
  stream.begin_capture(GENERATE(cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed));
  Pool::deallocate(block);
  char* const other = PoolTest::allocate(bytes);
  CHECK(other != block);
  pool::trim(0);
  CHECK(stream.end_capture());
  CHECK(comes_back(block, bytes));
  Pool::deallocate(other);
}

TEST_CASE("a block waits for the work of every device") {
  PoolTest const test(2);
  constexpr std::size_t bytes = 20 * MiB;
  DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");
  DeviceWork::Stream second;
  DeviceWork::require(cudaSetDevice(0), "cudaSetDevice");
  DeviceWork::Stream first;
  DeviceWork::Gate gates[2];
  char* const block = PoolTest::allocate(bytes);
  first.run(gates[0].hold());
  second.run(gates[1].hold());
  Pool::deallocate(block);
  int const opened_first = GENERATE(0, 1);
  gates[opened_first].open();
  (opened_first == 0 ? first : second).wait();
  char* const other = PoolTest::allocate(bytes);
  CHECK(other != block);
  gates[1 - opened_first].open();
  (opened_first == 0 ? second : first).wait();
  CHECK(comes_back(block, bytes));
  Pool::deallocate(other);
}

TEST_CASE("allocating, giving back and launching in turn locks little more than is needed") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  std::size_t const bytes = GENERATE(1000, 600 * KiB, 20 * MiB);
  std::size_t needed      = 0;
  auto const pair         = [&] {
    Pool::deallocate(PoolTest::allocate(bytes));
    pool::Usage const usage = PoolTest::usage();
    needed                  = std::max(needed, usage.bytes_in_use + usage.bytes_retired);
    return usage.bytes_locked <= needed + needed / 4 + 4 * MiB;
  };
  for (int step = 0; step < 300; ++step) {
    CHECK(pair());
    DeviceWork::Gate gate;  // else work that ends amid a pair is needed there, and not counted
    stream.run(gate.hold());
    CHECK(pair());
    gate.open();
    stream.wait();
  }
  CHECK(needed <= std::max(2 * bytes, 32 * MiB));
}

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
  std::thread opener([&] { gate.open(); });
  char* const other = PoolTest::allocate(next);
  other[0]          = 'y';
  stream.wait();
  opener.join();
  CHECK(read);
  Pool::deallocate(other);
  Pool::deallocate(small);
}

TEST_CASE("at the limit memory is waited for that fits only because it is locked already") {
  PoolTest const test(1);
  constexpr std::size_t bytes = MiB + MiB / 2;  // a segment serves two
  std::vector<char*> blocks{PoolTest::allocate(bytes), PoolTest::allocate(bytes)};
  std::size_t const locked = PoolTest::usage().bytes_locked;
  REQUIRE(locked == 3 * MiB);
  pool::set_limit(GENERATE_COPY(locked, locked - 1 * MiB));
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  Pool::deallocate(blocks.front());
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  blocks.front() = nullptr;
  CHECK_NOTHROW(blocks.front() = PoolTest::allocate(bytes));
  opener.join();
  for (char* const block : blocks) Pool::deallocate(block);
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
