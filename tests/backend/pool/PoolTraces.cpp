// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Replays twelve patterns of allocations: how much memory the pool locks compared with the peak in use,
// how often it locks fresh pages, and what glibc's malloc takes from the system for the same traces.
// Prints a table. KOKKOS_HOST_SPACES_TEST_STEPS: allocations a pattern (100000 if unset).

#include "../../../backend/Error.hpp"
#include "../../../backend/pool/Pool.hpp"
#include "PoolTest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl::Backend;

namespace {

using Random = std::mt19937_64;

std::size_t uniform(Random& random, std::size_t low, std::size_t high) {
  return low + random() % (high - low + 1);
}

std::size_t log_uniform(Random& random, double low, double high) {
  std::uniform_real_distribution<double> exponent(std::log2(low), std::log2(high));
  return static_cast<std::size_t>(std::exp2(exponent(random)));
}

enum class Order { random, oldest, newest, all_at_once };

struct Pattern {
  std::string name;
  double most;  ///< locked / peak, beside 4 MiB a heap
  Order frees;  ///< which blocks go when too much is alive
  std::function<std::size_t(Random&, std::size_t step)> size;
};

constexpr std::size_t alive_at_most = 192 * MiB;

std::vector<Pattern> patterns() {
  constexpr std::size_t sizes = 37;
  auto const of_a_step        = [](Random&, std::size_t i) {
    return (i % sizes + 1) * (i % sizes + 3) * 4 * KiB + 128;  // 12 KiB to 5.6 MiB, again and again
  };
  return {
      {"95 % of 0.1 to 0.9 MiB, 5 % of 16 to 64 MiB", 2.25, Order::random,
       [](Random& r, std::size_t) {
         return r() % 20 != 0 ? uniform(r, MiB / 10, 9 * MiB / 10) : uniform(r, 16 * MiB, 64 * MiB);
       }},
      {"uniform, 1 B to 8 MiB", 2.25, Order::random,
       [](Random& r, std::size_t) { return uniform(r, 1, 8 * MiB); }},
      {"log-uniform, 64 B to 64 MiB", 2.25, Order::random,
       [](Random& r, std::size_t) { return log_uniform(r, 64, 64e6); }},
      {"uniform, 64 KiB to 1 MiB", 2.25, Order::random,
       [](Random& r, std::size_t) { return uniform(r, 64 * KiB, MiB); }},
      {"log-uniform, 256 B to 256 KiB", 2.25, Order::random,
       [](Random& r, std::size_t) { return log_uniform(r, 256, 256e3); }},
      {"half of 0.5 MiB, half of 24 MiB, each +- 10 %", 2.25, Order::random,
       [](Random& r, std::size_t) {
         std::size_t const mean = r() % 2 == 0 ? MiB / 2 : 24 * MiB;
         return uniform(r, mean - mean / 10, mean + mean / 10);
       }},
      {"powers of two, 4 KiB to 32 MiB", 2.25, Order::random,
       [](Random& r, std::size_t) { return (4 * KiB << r() % 14) + 128; }},
      {"uniform, 1 to 16 MiB, the oldest goes first", 2.25, Order::oldest,
       [](Random& r, std::size_t) { return uniform(r, MiB, 16 * MiB); }},
      {"sizes that drift from 64 KiB to 16 MiB and back", 2.25, Order::random,
       [](Random& r, std::size_t i) {
         double const phase = static_cast<double>(i % 4000) / 2000;
         double const size  = 64e3 * std::exp2(8 * (phase < 1 ? phase : 2 - phase));
         return uniform(r, static_cast<std::size_t>(size / 2), static_cast<std::size_t>(size));
       }},
      {"the same sizes each step, the oldest goes first", 2.25, Order::oldest, of_a_step},
      {"the same sizes each step, the newest goes first", 1.25, Order::newest, of_a_step},
      {"steps that free all that they allocated", 1.25, Order::all_at_once, of_a_step},
  };
}

struct Allocator {
  std::function<void*(std::size_t)> allocate;
  std::function<void(void*)> deallocate;
  std::function<void()> note;  ///< after each allocation
};

void replay(Pattern const& pattern, std::size_t steps, Allocator const& allocator) {
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  std::deque<Block> blocks;
  std::size_t alive    = 0;
  auto const take_away = [&](std::size_t i) {
    std::swap(blocks[i], blocks.back());
    allocator.deallocate(blocks.back().memory);
    alive -= blocks.back().bytes;
    blocks.pop_back();
  };
  Random random(20260131);
  for (std::size_t step = 0; step < steps; ++step) {
    std::size_t const bytes = pattern.size(random, step);
    while (!blocks.empty() && alive + bytes > alive_at_most) {
      if (pattern.frees == Order::all_at_once) {
        while (!blocks.empty()) take_away(blocks.size() - 1);
      } else if (pattern.frees == Order::oldest) {
        allocator.deallocate(blocks.front().memory);
        alive -= blocks.front().bytes;
        blocks.pop_front();
      } else {
        take_away(pattern.frees == Order::newest ? blocks.size() - 1 : random() % blocks.size());
      }
    }
    blocks.push_back({allocator.allocate(bytes), bytes});
    alive += bytes;
    allocator.note();
  }
  while (!blocks.empty()) take_away(blocks.size() - 1);
}

struct Result {
  std::size_t peak = 0, locked = 0, refused = 0, heaps = 0;
  std::size_t late = 0, late_misses = 0;  ///< allocations after the first quarter
};

Result replay_on_pool(Pattern const& pattern, std::size_t steps, std::size_t limit) {
  PoolTest const test;
  pool::set_limit(limit);
  Pools& pools = Pools::instance();
  Result result;
  std::size_t done = 0, early_misses = 0;
  Allocator const allocator{[&](std::size_t bytes) -> void* {
                              try {
                                return PoolTest::allocate(bytes);
                              } catch (OutOfPinnedMemory const&) {
                                ++result.refused;
                                return nullptr;
                              }
                            },
                            Pool::deallocate,
                            [&] {
                              result.peak   = std::max(result.peak, pools.traffic().in_use());
                              result.locked = std::max(result.locked, pools.ledger.locked());
                              if (++done == steps / 4) early_misses = PoolTest::usage().misses;
                            }};
  replay(pattern, steps, allocator);
  result.late        = steps - steps / 4;
  result.late_misses = PoolTest::usage().misses - early_misses;
  pools.for_each_heap(
      [&](Heap const& heap) { result.heaps += heap.account().taken() > 0 ? 1 : 0; });
  return result;
}

// Largest ratio of what malloc had from the system to what was in use of it.
double ratio_of_malloc(Pattern const& pattern, std::size_t steps) {
  auto const from_system = [] {
    auto const now = mallinfo2();
    return now.arena + now.hblkhd;
  };
  std::size_t const before = from_system();
  std::size_t alive = 0, peak = 0, most = before, done = 0;
  auto const sample = [&] {
    peak = std::max(peak, alive);
    if (done++ % 64 == 0) most = std::max(most, from_system());
  };
  replay(pattern, steps,
         {[&](std::size_t bytes) {
            void* const memory = std::malloc(bytes);
            alive += malloc_usable_size(memory);
            return memory;
          },
          [&](void* memory) {
            alive -= malloc_usable_size(memory);
            std::free(memory);
          },
          sample});
  return static_cast<double>(most - before) / static_cast<double>(peak);
}

// In a child, with a heap that no other pattern has used.
double replay_on_malloc(Pattern const& pattern, std::size_t steps) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t const child = fork();
  REQUIRE(child >= 0);
  double ratio = 0;
  if (child == 0) {
    ratio = ratio_of_malloc(pattern, steps);
    std::_Exit(write(ends[1], &ratio, sizeof ratio) == sizeof ratio ? 0 : 1);
  }
  REQUIRE(read(ends[0], &ratio, sizeof ratio) == sizeof ratio);
  close(ends[0]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
  return ratio;
}

}  // namespace

TEST_CASE("the memory locked is bounded for twelve patterns") {
  char const* const given = std::getenv("KOKKOS_HOST_SPACES_TEST_STEPS");
  std::size_t const steps = given != nullptr ? std::strtoul(given, nullptr, 10) : 100000;
  std::vector<double> malloc_ratios;  // before the heap of this process grows
  for (Pattern const& pattern : patterns())
    malloc_ratios.push_back(replay_on_malloc(pattern, steps));
  auto malloc_ratio = malloc_ratios.begin();
  std::printf(
      "| pattern | locked / peak | malloc | fresh pages, 1 of | refused at 2.5 x |\n"
      "| --- | --- | --- | --- | --- |\n");
  for (Pattern const& pattern : patterns()) {
    Result const free    = replay_on_pool(pattern, steps, 0);
    Result const limited = replay_on_pool(pattern, steps, free.peak * 5 / 2);
    std::printf("| %s | %.2f | %.2f | %zu | %zu |\n", pattern.name.c_str(),
                static_cast<double>(free.locked) / static_cast<double>(free.peak), *malloc_ratio++,
                free.late / std::max<std::size_t>(free.late_misses, 1), limited.refused);
    std::fflush(stdout);
    CAPTURE(pattern.name);
    auto const allowed = static_cast<std::size_t>(pattern.most * static_cast<double>(free.peak));
    CHECK(free.locked <= allowed + 4 * MiB * free.heaps);
    CHECK(free.late_misses * 1000 <= free.late);
    CHECK(limited.refused == 0);
  }
}
