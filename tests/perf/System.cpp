// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../perf/plain/Numbers.hpp"
#include "../../perf/support/Format.hpp"
#include "../../perf/support/System.hpp"
#include "../support/Tests.hpp"

using namespace KokkosHostSpaces::Perf;

TEST_CASE("a link that the system does not know is not known") {
  CHECK_FALSE(parse_link("", "").is_known());
  CHECK_FALSE(parse_link("Unknown", "16").is_known());
  CHECK_FALSE(parse_link("Unknown speed", "0").is_known());
  CHECK_FALSE(parse_link("16.0 GT/s PCIe", "63").is_known());
  CHECK_FALSE(parse_link("16.0 GT/s PCIe", "255").is_known());
}

TEST_CASE("the rate of a link counts its coding") {
  auto const gigabytes = [](double speed, int lanes) {
    return static_cast<int>(link_rate({speed, lanes}) / 1e7);
  };
  CHECK(gigabytes(32, 16) == 6301);
  CHECK(gigabytes(16, 16) == 3150);
  CHECK(gigabytes(5, 8) == 400);
  CHECK(link_rate({0, 16}) == 0);
  CHECK(link_rate({7, 16}) == 0);
}

TEST_CASE("numbers of bytes, and words for none") {
  CHECK(parse_bytes("8589934592") == std::size_t(8) << 30);
  CHECK(parse_bytes("0") == 0);
  CHECK_FALSE(parse_bytes("unlimited"));
  CHECK_FALSE(parse_bytes(""));
  CHECK_FALSE(parse_bytes("9223372036854771712"));
}

TEST_CASE("filled memory matches, and no other") {
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
