// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What giving back and allocating cost, printed; checked against bounds that only a mistake
// exceeds. KOKKOS_HOST_SPACES_TEST_FREES and _LIVE say how many blocks (a million each if unset).

#include "../../support/DeviceWork.hpp"
#include "PoolTest.hpp"

#include <cstdio>
#include <ctime>

using Clock = std::chrono::steady_clock;

namespace {

std::size_t from_environment(char const* name, std::size_t otherwise) {
  char const* const value = std::getenv(name);
  return value != nullptr ? std::strtoul(value, nullptr, 10) : otherwise;
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double quantile(std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

// Threads that repeat something until the end of the scope.
class Background {
 public:
  void repeat(std::function<void()> work) {
    m_threads.emplace_back([work = std::move(work)](std::stop_token const& stop) {
      while (!stop.stop_requested()) work();
    });
  }

 private:
  std::vector<std::jthread> m_threads;
};

void register_and_unregister(std::size_t bytes) {
  void* const pages = map_pages(bytes);
  first_touch(pages, bytes, {});
  Driver::lock_pages(pages, bytes);
  Driver::unlock_pages(pages, bytes);
  unmap_pages(pages, bytes);
}

void print_frees(char const* beside, std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  std::printf("%zu frees %s: median %.3f, 99 %% %.3f, 99.9 %% %.3f, worst %.1f us\n", times.size(),
              beside, quantile(times, .5), quantile(times, .99), quantile(times, .999),
              times.back());
}

std::vector<double> time_frees(std::size_t count) {
  constexpr std::size_t round = 10000;
  std::mt19937 random(1);
  std::vector<double> times;
  std::vector<char*> blocks;
  while (times.size() < count) {
    for (std::size_t i = 0; i < round; ++i)
      blocks.push_back(PoolTest::allocate(100 + random() % (i % 100 == 0 ? 2 * MiB : 4 * KiB)));
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (char* const block : blocks) {
      auto const start = Clock::now();
      Pool::deallocate(block);
      times.push_back(microseconds(Clock::now() - start));
    }
    blocks.clear();
  }
  return times;
}

struct PairTime {
  double wall, processor;  // microseconds; they differ where threads share a core
};

double processor_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// A pair of freeing a random block and allocating one, in the slowest of the threads, with so many
// blocks alive in all.
PairTime time_pairs(std::size_t live, std::size_t thread_count, std::size_t bytes) {
  std::atomic<std::size_t> filled{0};
  std::atomic<bool> go{false};
  std::vector<PairTime> times(thread_count);
  std::vector<std::thread> threads;
  std::size_t const mine = live / thread_count;
  for (std::size_t t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<char*> blocks;
      for (std::size_t i = 0; i < mine; ++i) blocks.push_back(PoolTest::allocate(bytes));
      std::shuffle(blocks.begin(), blocks.end(), random);
      ++filled;
      go.wait(false);
      auto const start       = Clock::now();
      double const processor = processor_microseconds();
      for (char*& block : blocks) {
        Pool::deallocate(block);
        block = PoolTest::allocate(bytes);
      }
      auto const pairs = static_cast<double>(mine);
      times[t]         = {microseconds(Clock::now() - start) / pairs,
                          (processor_microseconds() - processor) / pairs};
      for (char* const block : blocks) Pool::deallocate(block);
    });
  }
  while (filled < thread_count) std::this_thread::yield();
  go = true;
  go.notify_all();
  for (std::thread& thread : threads) thread.join();
  return *std::max_element(times.begin(), times.end(),
                           [](PairTime const& a, PairTime const& b) { return a.wall < b.wall; });
}

double time_warm_pairs(std::size_t bytes) {
  constexpr std::size_t warm_up = 2000;
  constexpr std::size_t count   = 20000;
  auto const pairs              = [&](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) Pool::deallocate(PoolTest::allocate(bytes));
  };
  pairs(warm_up);
  auto const start = Clock::now();
  pairs(count);
  return microseconds(Clock::now() - start) / count;
}

double time_record_and_query() {
  constexpr int count = 20000;
  Driver::Event event = nullptr;
  auto const start    = Clock::now();
  for (int i = 0; i < count; ++i) {
    Driver::record_all_work(0, event);
    Driver::query(event);
  }
  double const time = microseconds(Clock::now() - start) / count;
  Driver::release_event(event);
  return time;
}

}  // namespace

TEST_CASE("frees are fast, whatever other threads do to the driver and to the pool") {
  PoolTest const test(1);
  std::size_t const count = from_environment("KOKKOS_HOST_SPACES_TEST_FREES", 1000000);
  DeviceWork::use(0);
  auto alone = time_frees(count);
  print_frees("alone", alone);
  Background background;
  background.repeat([] { register_and_unregister(256 * MiB); });
  background.repeat([] {
    pool::trim(64 * MiB);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  background.repeat([] {
    pool::statistics();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  auto beside = time_frees(count);
  print_frees("beside register, unregister, trim and statistics", beside);
  CHECK(quantile(alone, .5) < 5);
  CHECK(quantile(beside, .5) < 5);
}

TEST_CASE("pairs cost little among many live blocks") {
  PoolTest const test(1);
  std::size_t const most = from_environment("KOKKOS_HOST_SPACES_TEST_LIVE", 1000000);
  DeviceWork::use(0);
  for (std::size_t const live : {most / 100, most / 10, most}) {
    for (std::size_t const threads : {1, 4, 16}) {
      auto const [wall, processor] = time_pairs(live, threads, 256);
      std::printf("a pair among %zu live blocks, %zu threads: %.3f us, of the processor %.3f us\n",
                  live, threads, wall, processor);
      CHECK(wall < 1000);
    }
  }
}

TEST_CASE("warm pairs cost less than a question to the device") {
  PoolTest const test(1);
  std::printf("record and query: %.3f us\n", time_record_and_query());
  for (std::size_t const bytes : {100 * std::size_t(1), 4 * KiB, 32 * KiB, 100 * KiB, 512 * KiB,
                                  MiB - 1, MiB, 4 * MiB, 64 * MiB}) {
    double const time = time_warm_pairs(bytes);
    std::printf("a warm pair of %zu bytes: %.3f us\n", bytes, time);
    CHECK(time < 100);
  }
}
