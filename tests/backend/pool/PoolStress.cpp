// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many threads, many streams: every block is checked by the host and by work on a stream that is
// still to come when the block is given back. KOKKOS_HOST_SPACES_TEST_THREADS and _ALLOCATIONS (for
// each thread) scale it up.

#include "../../support/DeviceWork.hpp"
#include "PoolTest.hpp"

namespace {

std::size_t from_environment(char const* name, std::size_t otherwise) {
  char const* const value = std::getenv(name);
  return value != nullptr ? std::strtoul(value, nullptr, 10) : otherwise;
}

struct Content {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char tag;
};

constexpr unsigned char front_canary = 0xC5;
constexpr unsigned char back_canary  = 0x5C;

void write(Content const& content) {
  std::memset(content.memory, content.tag, content.bytes);
  content.memory[0]                 = front_canary;
  content.memory[content.bytes - 1] = back_canary;
}

bool intact(Content const& content) {
  unsigned char const* const end   = content.memory + content.bytes - 1;
  unsigned char const* const begin = content.memory;
  return *begin == front_canary && *end == back_canary &&
         std::all_of(begin + 1, end, [&](unsigned char byte) { return byte == content.tag; });
}

struct Shared {
  std::vector<DeviceWork::Stream> streams = std::vector<DeviceWork::Stream>(8);
  std::mutex mutex;
  std::vector<Content> on_their_way;  ///< to another thread, which deallocates them
  std::atomic<std::size_t> checked_by_streams{0};
  std::atomic<std::size_t> broken{0};
};

// Submits a check and gives the memory back before it has run.
void check_and_give_back(Shared& shared, DeviceWork::Stream& stream, Content content) {
  if (!intact(content)) ++shared.broken;
  stream.run([&shared, content] {
    if (!intact(content)) ++shared.broken;
    ++shared.checked_by_streams;
  });
  Pool::deallocate(content.memory);
}

void work(Shared& shared, std::size_t allocations, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Content> mine;
  auto const any_stream = [&]() -> DeviceWork::Stream& { return shared.streams[random() % 8]; };
  for (std::size_t i = 0; i < allocations; ++i) {
    std::size_t const most = random() % 64 == 0 ? 256 * KiB : 4 * KiB;
    Content content{nullptr, 2 + random() % most, static_cast<unsigned char>(random())};
    content.memory = reinterpret_cast<unsigned char*>(PoolTest::allocate(content.bytes));
    write(content);
    mine.push_back(content);
    if (mine.size() < 16) continue;
    std::swap(mine[random() % mine.size()], mine.back());
    if (random() % 4 == 0) {
      std::lock_guard const lock(shared.mutex);
      shared.on_their_way.push_back(mine.back());
    } else {
      check_and_give_back(shared, any_stream(), mine.back());
    }
    mine.pop_back();
    std::unique_lock lock(shared.mutex);
    if (random() % 4 == 0 && !shared.on_their_way.empty()) {
      Content const from_other = shared.on_their_way.back();
      shared.on_their_way.pop_back();
      lock.unlock();
      check_and_give_back(shared, any_stream(), from_other);
    } else {
      lock.unlock();
    }
    if (i % 256 == 0) any_stream().wait();
  }
  for (Content const& content : mine) check_and_give_back(shared, any_stream(), content);
}

}  // namespace

TEST_CASE(
    "no block is touched by two owners, whoever gives it back and whatever streams still do") {
  PoolTest const test(1);
  std::size_t const thread_count = from_environment("KOKKOS_HOST_SPACES_TEST_THREADS", 8);
  std::size_t const allocations  = from_environment("KOKKOS_HOST_SPACES_TEST_ALLOCATIONS", 1500);
  Shared shared;
  in_threads(int(thread_count), [&](int i) { work(shared, allocations, unsigned(i)); });
  for (Content const& left : shared.on_their_way)
    check_and_give_back(shared, shared.streams[0], left);
  for (DeviceWork::Stream& stream : shared.streams) stream.wait();
  CHECK(shared.broken == 0);
  CHECK(shared.checked_by_streams == thread_count * allocations);
  CHECK(PoolTest::usage().bytes_in_use == 0);
  CHECK(PoolTest::usage().hits > thread_count * allocations / 2);
}
