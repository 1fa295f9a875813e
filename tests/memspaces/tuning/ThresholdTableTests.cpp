// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Which values of thresholds are taken from a file.

#include <KokkosHostSpaces/impl/tuning/ThresholdFile.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces::Impl;

TEST_CASE("a value out of range leaves the table's, as does a line that is not there",
          "[calibration]") {
  for (MeasuredThreshold const& known : measured_thresholds()) {
    CAPTURE(known.key);
    auto const value = [&](std::string const& line, std::size_t broken_lines) {
      std::vector<std::string> broken;
      CopyThresholds const found = thresholds_in({line}, broken);
      CHECK(broken.size() == broken_lines);
      for (MeasuredThreshold const& other : measured_thresholds())
        if (other.key != known.key) CHECK(other.in(found) == other.in(copy_thresholds));
      return known.in(found);
    };
    std::size_t const usual = known.in(copy_thresholds);
    std::string const above = std::to_string(known.most + 1);
    std::string const below = known.least > 0 ? std::to_string(known.least - 1) : "-1";
    for (std::string const& bad : {above, below, std::to_string(usual) + " ", std::string()})
      CHECK(value(known.key + " " + bad, 1) == usual);
    CHECK(value(known.key + " " + std::to_string(known.most), 0) == known.most);
    CHECK(value(known.key + " " + std::to_string(known.least), 0) == known.least);
    CHECK(value("of_an_older_library 1", 0) == usual);
  }
}
