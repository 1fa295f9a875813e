// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/Config.hpp"
#include "../../backend/Error.hpp"

#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace KokkosHostSpaces;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using KokkosHostSpaces::Impl::Backend::Config;

namespace {

using Environment = std::map<std::string, std::string>;

// The prefix of all names is added here.
Config read(Environment const& environment) {
  return Config::read([&](std::string const& name) -> std::optional<std::string> {
    std::string const prefix = "KOKKOS_HOST_SPACES_";
    REQUIRE(name.rfind(prefix, 0) == 0);
    auto const found = environment.find(name.substr(prefix.size()));
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("an empty environment gives the defaults") {
  Config const config = read({});
  CHECK(config.pool_limit == 0);
  CHECK(config.stream_memory == std::size_t(1) << 30);
  CHECK(config.huge_pages);
  CHECK(config.numa);
  CHECK(config.touch_threads == 0);
  CHECK(config.pool);
  CHECK(config.calibration.empty());
  CHECK(config.thresholds.empty());
  CHECK_FALSE(config.guard);
  CHECK_FALSE(config.verbose);
}

TEST_CASE("every variable is read") {
  Config const config = read({{"POOL_LIMIT", "64G"},
                              {"STREAM_MEMORY", "256M"},
                              {"HUGE_PAGES", "off"},
                              {"NUMA", "off"},
                              {"TOUCH_THREADS", "12"},
                              {"POOL", "off"},
                              {"CALIBRATION", "/tmp/rates"},
                              {"THRESHOLDS", "/tmp/thresholds"},
                              {"GUARD", "on"},
                              {"VERBOSE", "on"}});
  CHECK(config.pool_limit == std::size_t(64) << 30);
  CHECK(config.stream_memory == std::size_t(256) << 20);
  CHECK_FALSE(config.huge_pages);
  CHECK_FALSE(config.numa);
  CHECK(config.touch_threads == 12);
  CHECK_FALSE(config.pool);
  CHECK(config.calibration == "/tmp/rates");
  CHECK(config.thresholds == "/tmp/thresholds");
  CHECK(config.guard);
  CHECK(config.verbose);
}

TEST_CASE("sizes have suffixes that are powers of 1024") {
  CHECK(read({{"POOL_LIMIT", "0"}}).pool_limit == 0);
  CHECK(read({{"POOL_LIMIT", "4096"}}).pool_limit == 4096);
  CHECK(read({{"POOL_LIMIT", "3K"}}).pool_limit == 3072);
  CHECK(read({{"POOL_LIMIT", "2M"}}).pool_limit == 2097152);
  CHECK(read({{"POOL_LIMIT", "1T"}}).pool_limit == std::size_t(1) << 40);
}

TEST_CASE("a value that makes no sense is refused by name, value and what is allowed") {
  auto const refuses = [](std::string const& name, std::string const& value,
                          std::string const& allowed) {
    CAPTURE(name, value);
    CHECK_THROWS_MATCHES(
        read({{name, value}}), ConfigurationError,
        MessageMatches(ContainsSubstring("KOKKOS_HOST_SPACES_" + name) &&
                       ContainsSubstring("'" + value + "'") && ContainsSubstring(allowed)));
  };
  for (auto const* name : {"HUGE_PAGES", "NUMA", "POOL", "VERBOSE"}) {
    for (auto const* value : {"", "yes", "ON", "1", "off "}) refuses(name, value, "on or off");
  }
  refuses("CALIBRATION", "", "the path of a file");
  refuses("THRESHOLDS", "", "the path of a file");
  for (auto const* value : {"", "0", "-1", "1025", "8 ", "four", "99999999999"}) {
    refuses("TOUCH_THREADS", value, "1 to 1024");
  }
  for (auto const* value :
       {"", "K", "-1", "5X", "5MB", "1.5G", " 7", "99999999999999999999", "16777216T"}) {
    refuses("POOL_LIMIT", value, "suffixes K, M, G, T");
  }
}
