// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../perf/plain/Numbers.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces::Perf;

TEST_CASE("what was filled matches, and nothing else does") {
  std::vector<std::uint64_t> numbers(1000);
  CHECK_FALSE(matches(numbers.data(), numbers.size()));
  std::uint64_t const sum = fill(numbers.data(), numbers.size());
  CHECK(matches(numbers.data(), numbers.size()));
  CHECK(sum == 500 * 1001 * number_at(0));
  CHECK_FALSE(matches(numbers.data() + 1, numbers.size() - 1));
  numbers[999] += 1;
  CHECK_FALSE(matches(numbers.data(), numbers.size()));
  poison(numbers.data(), numbers.size());
  CHECK_FALSE(matches(numbers.data(), 1));
}

TEST_CASE("repetitions go on until their time is over, and the median counts") {
  int calls = 0;
  CHECK(median_time(5.5, [&] { return double(++calls); }) == 2);  // 1 + 2 + 3
  CHECK(calls == 3);
  CHECK(median_time(0, [] { return 7.; }) == 7);
}
