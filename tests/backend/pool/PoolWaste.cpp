// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How much memory the pool takes for what is asked of it.

#include "PoolTest.hpp"

namespace {

using Random = std::mt19937_64;

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
       [](Random& random) { return (std::size_t(1) << (9 + random() % 18)); }},
      {"any size from 4 KiB to 64 MiB",
       [](Random& random) { return log_uniform(random, 4e3, 64e6); }},
      {"mesh fields: a few sizes just above powers of two",
       [](Random& random) { return ((std::size_t(1) << 20) + 8 * (random() % 4) * 4097) * 8; }},
      {"message buffers: 1 KiB to 256 KiB",
       [](Random& random) { return log_uniform(random, 1e3, 256e3); }},
      {"a thousand small Views beside large ones",
       [](Random& random) {
         return (random() % 10 != 0 ? log_uniform(random, 64, 4e3)
                                    : log_uniform(random, 1e6, 40e6));
       }},
  };
}

double waste(std::size_t taken) {
  return 1.0 - double(PoolTest::usage().bytes_asked) / double(taken);
}
double waste_of_used() { return waste(PoolTest::usage().bytes_in_use); }
double waste_of_locked() { return waste(PoolTest::usage().bytes_locked); }

}  // namespace

TEST_CASE(
    "at most an eighth of the memory is wasted, and much coming and going does not tear it to pieces") {
  PoolTest const test;
  Mix const mix = GENERATE(from_range(mixes()));
  CAPTURE(mix.name);
  Random random(20240229);
  Blocks blocks;
  auto const fill = [&] {
    while (PoolTest::usage().bytes_asked < 250 * MiB)
      for (int i = 0; i < 16; ++i) blocks.add(mix.size(random));
  };
  fill();
  CHECK(waste_of_used() <= 0.125);
  CHECK(waste_of_locked() <= 0.125);
  for (int round = 0; round < 3; ++round) {
    std::erase_if(blocks, [&](char* block) {
      bool const goes = random() % 3 == 0;
      if (goes) Pool::deallocate(block);
      return goes;
    });
    fill();
  }
  CHECK(waste_of_used() <= 0.125);
  // What is cached in pieces between blocks in use still serves others.
  CHECK(waste_of_locked() <= 0.35);
}
