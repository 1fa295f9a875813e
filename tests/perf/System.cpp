// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../perf/plain/Numbers.hpp"
#include "../../perf/support/Format.hpp"
#include "../../perf/support/System.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces::Perf;

TEST_CASE("the mode in brackets is the selected one") {
  CHECK(selected_mode("always [madvise] never") == "madvise");
  CHECK(selected_mode("[always] madvise never") == "always");
  CHECK(selected_mode("always defer defer+madvise madvise [never]") == "never");
  CHECK(selected_mode("") == "");
  CHECK(selected_mode("]odd[") == "");
}

TEST_CASE("a duration is told in the unit that reads well") {
  CHECK(duration_name(0.4) == "0 s");
  CHECK(duration_name(99) == "99 s");
  CHECK(duration_name(100) == "2 min");
  CHECK(duration_name(5900) == "98 min");
  CHECK(duration_name(9000) == "2.5 h");
}

TEST_CASE("a link that the system does not know is not known") {
  CHECK_FALSE(parse_link("", "").is_known());
  CHECK_FALSE(parse_link("Unknown", "16").is_known());
  CHECK_FALSE(parse_link("Unknown speed", "0").is_known());
  CHECK_FALSE(parse_link("16.0 GT/s PCIe", "63").is_known());
  CHECK_FALSE(parse_link("16.0 GT/s PCIe", "255").is_known());
}

TEST_CASE("speeds of a lane name the generation") {
  CHECK(pcie_generation(2.5) == 1);
  CHECK(pcie_generation(8) == 3);
  CHECK(pcie_generation(32) == 5);
  CHECK(pcie_generation(64) == 6);
  CHECK(pcie_generation(7) == 0);
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

TEST_CASE("the soft limit of locked memory is found") {
  std::string const head =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max processes             95000                95000                processes \n";
  CHECK(locked_memory_limit(
            head + "Max locked memory         8388608              unlimited            bytes\n") ==
        std::size_t(8) << 20);
  CHECK_FALSE(locked_memory_limit(
      head + "Max locked memory         unlimited            unlimited            bytes\n"));
  CHECK_FALSE(locked_memory_limit(head));
}

TEST_CASE("sizes read well") {
  CHECK(size_name(0) == "0 B");
  CHECK(size_name(4096) == "4 KiB");
  CHECK(size_name(std::size_t(8) << 20) == "8 MiB");
  CHECK(size_name(std::size_t(3) << 29) == "1.5 GiB");
  CHECK(size_name(std::size_t(2) << 40) == "2048 GiB");
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
