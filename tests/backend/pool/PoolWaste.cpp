// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How much memory the pool takes for what is asked of it.

#include "PoolTest.hpp"

#include <cmath>

#include <catch2/generators/catch_generators_range.hpp>

namespace {

using Random = std::mt19937_64;

constexpr std::size_t kokkos_header = 128;

struct Mix {
  std::string name;
  std::function<std::size_t(Random&)> size;
};

std::size_t log_uniform(Random& random, double low, double high) {
  std::uniform_real_distribution<double> exponent(std::log2(low), std::log2(high));
  return static_cast<std::size_t>(std::exp2(exponent(random)));
}

std::vector<Mix> mixes() {
  return {
      {"powers of two, as Views of 2^n doubles",
       [](Random& random) { return (std::size_t(1) << (9 + random() % 18)) + kokkos_header; }},
      {"any size from 4 KiB to 64 MiB",
       [](Random& random) { return log_uniform(random, 4e3, 64e6) + kokkos_header; }},
      {"mesh fields: a few sizes just above powers of two",
       [](Random& random) {
         return ((std::size_t(1) << 20) + 8 * (random() % 4) * 4097) * 8 + kokkos_header;
       }},
      {"message buffers: 1 KiB to 256 KiB",
       [](Random& random) { return log_uniform(random, 1e3, 256e3) + kokkos_header; }},
      {"a thousand small Views beside large ones",
       [](Random& random) {
         return (random() % 10 != 0 ? log_uniform(random, 64, 4e3)
                                    : log_uniform(random, 1e6, 40e6)) +
                kokkos_header;
       }},
  };
}

double waste(std::size_t asked, std::size_t taken) {
  return 1.0 - static_cast<double>(asked) / static_cast<double>(taken);
}

}  // namespace

TEST_CASE(
    "at most an eighth of the memory is wasted, and much coming and going does not tear it to "
    "pieces") {
  PoolTest const test;
  Mix const mix = GENERATE(from_range(mixes()));
  CAPTURE(mix.name);
  Random random(20240229);
  constexpr std::size_t goal = 500 * MiB;

  std::vector<char*> blocks;
  auto const fill = [&] {
    while (PoolTest::usage().bytes_asked < goal) {
      for (int i = 0; i < 16; ++i) blocks.push_back(PoolTest::allocate(mix.size(random)));
    }
  };
  fill();
  pool::Usage usage = PoolTest::usage();
  CHECK(waste(usage.bytes_asked, usage.bytes_in_use) <= 0.125);
  CHECK(waste(usage.bytes_asked, usage.bytes_locked) <= 0.125);

  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < blocks.size();) {
      if (random() % 3 != 0) {
        ++i;
        continue;
      }
      Pool::deallocate(blocks[i]);
      blocks[i] = blocks.back();
      blocks.pop_back();
    }
    fill();
  }
  usage = PoolTest::usage();
  CHECK(waste(usage.bytes_asked, usage.bytes_in_use) <= 0.125);
  // What is cached in pieces between blocks in use still serves others.
  CHECK(waste(usage.bytes_asked, usage.bytes_locked) <= 0.35);
  for (char* const block : blocks) Pool::deallocate(block);
}

TEST_CASE("each block beyond 4 KiB wastes at most an eighth") {
  PoolTest const test;
  for (std::size_t bytes = 4 * KiB; bytes < 80 * MiB; bytes += bytes / 7 + 13) {
    for (std::size_t const asked : {bytes, bytes + 1, std::size_t(1) << (bytes % 13 + 12)}) {
      char* const block       = PoolTest::allocate(asked);
      pool::Usage const usage = PoolTest::usage();
      CAPTURE(asked);
      CHECK(waste(usage.bytes_asked, usage.bytes_in_use) <= 0.125);
      Pool::deallocate(block);
    }
  }
}
