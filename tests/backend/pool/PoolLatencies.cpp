// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What giving back costs, printed, and checked against a bound that only a mistake exceeds.
// KOKKOS_HOST_SPACES_TEST_FREES says how many blocks (a million if unset). perf/ measures allocations.

#include "../../support/DeviceWork.hpp"
#include "PoolTest.hpp"

#include <cstdio>

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

std::jthread repeat(std::function<void()> work) {
  return std::jthread([work = std::move(work)](std::stop_token const& stop) {
    while (!stop.stop_requested()) work();
  });
}

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

}  // namespace

TEST_CASE("frees are fast, whatever other threads do to the driver and to the pool") {
  PoolTest const test(1);
  std::size_t const count = from_environment("KOKKOS_HOST_SPACES_TEST_FREES", 1000000);
  DeviceWork::use(0);
  auto alone = time_frees(count);
  print_frees("alone", alone);
  auto const registers = repeat([] { register_and_unregister(256 * MiB); });
  auto const trims     = repeat([] {
    pool::trim(64 * MiB);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  auto const asks      = repeat([] {
    pool::statistics();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  auto beside          = time_frees(count);
  print_frees("beside register, unregister, trim and statistics", beside);
  CHECK(quantile(alone, .5) < 5);
  CHECK(quantile(beside, .5) < 5);
}
